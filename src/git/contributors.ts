import type { Oid } from './parse.ts'
import { records, type Workplace } from './run.ts'

export interface Contributor {
  readonly name: string
  readonly email: string
  readonly commits: number
}

/** Who wrote the commits up to this one, merges not counted; one entry an address, under the name used most. */
export async function contributors(place: Workplace, commit: Oid): Promise<Contributor[]> {
  const found = new Map<string, Contributor & { readonly most: number }>()
  const lines = records(place, 'shortlog', 0x0a, {
    flags: ['--summary', '--email', '--no-merges'],
    revs: [commit],
  })
  for await (const line of lines) {
    const [, count = '0', name = '', email = ''] = /^\s*(\d+)\t(.*?) ?<([^>]*)>$/.exec(line.toString()) ?? []
    const commits = Number(count)
    if (commits === 0) continue
    const known = found.get(email)
    const better = known === undefined || commits > known.most
    found.set(email, {
      email,
      name: better ? name : known.name,
      most: better ? commits : known.most,
      commits: commits + (known?.commits ?? 0),
    })
  }
  return [...found.values()].map(({ name, email, commits }) => ({ name, email, commits }))
}
