import { isShownTo, type Actor } from '../../access/index.ts'
import type { Plan } from '../../kernel/config/index.ts'
import type { Settings } from '../../settings/index.ts'
import { creatableAt, createByPush, type PushedTo } from '../projects/index.ts'
import { containerOfWiki, snippetNamed } from './address.ts'
import type { Found } from './find-target.ts'
import { GitRefusal } from './refusal.ts'
import type { TargetServices, Wanted } from './target.ts'

interface CreatingServices extends TargetServices {
  readonly plan: Plan
  readonly settings: Settings
}

/**
 * What somebody pushes to: what was found, or else a project that is made for it. `find` looks again. Throws the refusal
 * in git's words.
 */
export async function wantedByPush(
  services: CreatingServices,
  actor: Actor,
  to: PushedTo,
  wanted: Wanted | undefined,
  find: () => Promise<Found>,
): Promise<Wanted | undefined> {
  if (!isCreator(actor) || !isOfProject(to.fullPath)) return wanted
  if (wanted !== undefined && !isHidden(services, actor, to, wanted)) return wanted
  // What is hidden is answered as what is not there: by what the user may know of the namespace.
  const creatable = await creatableAt(services, actor, to)
  if (creatable === 'nowhere') {
    throw new GitRefusal(404, 'The namespace you were looking for could not be found.')
  }
  if (creatable === 'refused' || wanted !== undefined) return wanted
  checkWritable(services)
  const outcome = await createByPush(services, actor, creatable)
  if (outcome === 'refused') return undefined
  const { wanted: made } = await find()
  // Another push at the same time may have made it.
  if (made === undefined && outcome !== 'made') {
    throw new GitRefusal(422, `Could not create project: ${outcome.faults}`)
  }
  return made
}

/** Nothing is pushed while the instance is in maintenance. */
export function checkWritable({ settings }: { readonly settings: Settings }): void {
  const { maintenance_mode: on, maintenance_mode_message: text } = settings.values
  if (on) throw new GitRefusal(403, text ?? 'Guildhall is undergoing maintenance')
}

/** Users create, and neither jobs nor deploy tokens and keys. */
function isCreator({ user, job }: Actor): boolean {
  return user !== null && job === null
}

/** Wikis and snippets come with what they are of, and aliases are given by hand. */
function isOfProject(fullPath: string): boolean {
  const elsewhere = containerOfWiki(fullPath) !== undefined || snippetNamed(fullPath) !== undefined
  return fullPath.includes('/') && !elsewhere
}

function isHidden(
  { settings, plan }: CreatingServices,
  actor: Actor,
  { address }: PushedTo,
  { mayUpload, subject }: Wanted,
): boolean {
  if (mayUpload(actor).hidden) return true
  return subject !== undefined && !isShownTo(subject, actor, address, { values: settings.values, plan })
}
