import type { Tx } from '../../kernel/db/index.ts'
import {
  createUser,
  digestPassword,
  faultsOf,
  passwordRules,
  sendConfirmation,
  startsExternal,
  taken,
} from '../users/index.ts'
import { isAdmitted, notAdmitted } from './addresses.ts'
import { askForApproval } from './approval.ts'
import type { SignUpServices } from './services.ts'

export interface Registration {
  readonly name: string
  readonly username: string
  readonly email: string
  readonly password: string
}

export type Registered =
  | { readonly faults: Readonly<Record<string, readonly string[]>> }
  /** `waits`: what has to happen before the new user may sign in. */
  | { readonly waits: 'approval' | 'confirmation' | undefined }

/** Makes an account for somebody who comes by himself, as the instance lets people come. */
export async function register(services: SignUpServices, form: Registration): Promise<Registered> {
  const { db, settings, mail } = services
  const { values } = settings
  const faults = await faultsIn(services, form)
  if (Object.keys(faults).length > 0) return { faults }
  const passwordDigest = await digestPassword(form.password)
  const unapproved = values.require_admin_approval_after_user_signup
  // Without a way to send mail nobody could ever confirm.
  const unconfirmed = values.email_confirmation_setting !== 'off' && mail.enabled
  const external = startsExternal(form.email, {
    byDefault: values.user_default_external,
    internalPattern: values.user_default_internal_regex,
  })
  await db.transaction(async (tx: Tx) => {
    const { id } = await createUser(tx, {
      username: form.username,
      name: form.name,
      email: form.email,
      external,
      privateProfile: values.user_defaults_to_private_profile,
      canCreateGroup: values.can_create_group,
      projectsLimit: values.default_projects_limit ?? 0,
      passwordDigest,
      unapproved,
      unconfirmed,
    })
    if (unconfirmed) await sendConfirmation(tx, services, { id, ...form })
    if (unapproved) await askForApproval(tx, services, { id, ...form })
  })
  if (unapproved) return { waits: 'approval' }
  return { waits: unconfirmed && values.email_confirmation_setting === 'hard' ? 'confirmation' : undefined }
}

async function faultsIn(
  { db, settings: { values } }: SignUpServices,
  form: Registration,
): Promise<Record<string, string[]>> {
  const state = { ...form, publicEmail: null, commitEmail: null, projectsLimit: 0, profile: {} }
  const faults = faultsOf(state, form.password, passwordRules(values))
  const fault = (field: string, text: string) => (faults[field] = [...(faults[field] ?? []), text])
  if (!isAdmitted(form.email, values)) fault('email', notAdmitted)
  const found = await taken(db.reader, form, null)
  if (found.email) fault('email', 'has already been taken')
  if (found.username) fault('username', 'has already been taken')
  return faults
}
