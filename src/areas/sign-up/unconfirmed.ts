import { removeUserById } from '../users/index.ts'
import type { SignUpServices } from './services.ts'
import * as store from './store.ts'

/** Users that one run removes at most. */
const most = 10_000

/** Removes who never confirmed his address, where the instance wants that. */
export async function removeUnconfirmed({ db, settings, beforeRemoval }: SignUpServices): Promise<void> {
  const { values } = settings
  if (!values.delete_unconfirmed_users || values.email_confirmation_setting === 'off') return
  const ids = await store.longUnconfirmed(db.reader, values.unconfirmed_users_delete_after_days, most)
  // Who never came in has said nothing.
  const services = { beforeRemoval, removeNotes: async () => undefined }
  for (const id of ids) await db.transaction((tx) => removeUserById(tx, id, services, { hard: true }))
}
