import { letter, type Mail } from '../../mail/index.ts'
import type { UserRow } from './entities.ts'

export function deactivated({
  id,
  name,
  username,
  email,
}: Pick<UserRow, 'id' | 'name' | 'username' | 'email'>): Mail {
  return {
    key: `deactivated:${id}:${Date.now()}`,
    to: { name, address: email, userId: id },
    subject: 'Your account has been deactivated',
    text: letter({
      paragraphs: [
        `Hello ${name},`,
        `Your account ${username} has been deactivated. To make it active again, sign in; if that does not work, ask an administrator.`,
      ],
    }),
  }
}
