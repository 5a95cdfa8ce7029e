import { sql, type Tx, type Writer } from '../../kernel/db/index.ts'
import type { Cipher } from '../../kernel/lib/secrets.ts'

/** Points links in records, each a line, to the uploads that have come before them. */
export type Relink = (db: Tx | Writer, lines: readonly string[]) => Promise<readonly string[]>

/** A link to an upload, as texts have it: from the project, from the instance, or with its address. */
const link =
  /(?:https?:\/\/[^\s()<>"'\\]{1,500}?)?(?:\/-\/project\/\d{1,15})?\/uploads\/([0-9a-f]{32})\/(?=[^\s/])/g

/** The secret that an upload gets here, always the same; it is not to be guessed from the one it had. */
export function secretHere(cipher: Cipher, projectId: number, secret: string): string {
  return cipher.uuid(`uploads ${projectId} ${secret}`).replaceAll('-', '')
}

/** Links to other uploads than those of the project stay as they are. */
export function linksIn({ cipher }: { readonly cipher: Cipher }, projectId: number): Relink {
  return async (db, lines) => {
    const secrets = new Map<string, string>()
    for (const line of lines) {
      for (const [, secret] of line.matchAll(link)) {
        secrets.set(secret!, secretHere(cipher, projectId, secret!))
      }
    }
    if (secrets.size === 0) return lines
    const { rows } = await sql<{ secret: string }>`
      select u.secret from uploads u
      where u.project_id = ${projectId} and u.secret = any (${[...secrets.values()]}::text[])`.execute(db)
    const there = new Set(rows.map(({ secret }) => secret))
    return lines.map((line) =>
      line.replaceAll(link, (whole, secret: string) => {
        const here = secrets.get(secret)!
        return there.has(here) ? `/uploads/${here}/` : whole
      }),
    )
  }
}
