import type { Tx } from '../../kernel/db/index.ts'
import { letter } from '../../mail/index.ts'
import type { SignUpServices } from './services.ts'
import * as store from './store.ts'

/** Tells the administrators that somebody waits for them. */
export async function askForApproval(
  tx: Tx,
  { mail, externalUrl }: Pick<SignUpServices, 'mail' | 'externalUrl'>,
  user: { readonly id: number; readonly name: string; readonly username: string; readonly email: string },
): Promise<void> {
  const administrators = await store.administrators(tx)
  await mail.queue(
    tx,
    ...administrators.map(({ id, name, email }) => ({
      key: `approval of ${user.id} by ${id}`,
      to: { name, address: email, userId: id },
      subject: `${user.name} asks for an account`,
      text: letter({
        paragraphs: [
          `${user.name} (@${user.username}, ${user.email}) has signed up and waits for approval.`,
          `To approve or reject: POST ${externalUrl()}/api/v4/users/${user.id}/approve or /reject`,
        ],
        why: 'You are an administrator.',
      }),
    })),
  )
}
