import { Visibility, visibilityName, type VisibilityName } from '../../access/index.ts'
import { branchRef } from '../../git/index.ts'
import { invalid, refused } from '../../kernel/errors/index.ts'
import { groupNameFaults, groupPathFaults, reservedInside } from '../namespaces/index.ts'
import { reservedTopLevel } from '../users/index.ts'

const product = 'Guildhall'
export const deepest = 20
export const taken = 'has already been taken'

export type Faults = Record<string, string[]>

/** What of a group has rules; `path` is undefined when it stays as it is: old paths need not obey newer rules. */
export interface GroupState {
  readonly name: string
  readonly path: string | undefined
  readonly description: string | null
  readonly subgroup: boolean
  readonly defaultBranch: unknown
}

/** What breaks a rule, in the words of the supporting resources (4.2). */
export function faultsOf({ name, path, description, subgroup, defaultBranch }: GroupState): Faults {
  const faults: Faults = {}
  const fault = (attribute: string, texts: readonly string[]): void => {
    if (texts.length > 0) faults[attribute] = [...(faults[attribute] ?? []), ...texts]
  }
  fault('name', groupNameFaults(name))
  if (path !== undefined) fault('path', groupPathFaults(path, subgroup ? reservedInside : reservedTopLevel))
  if ((description?.length ?? 0) > 500) fault('description', ['is too long (maximum is 500 characters)'])
  if (typeof defaultBranch === 'string' && defaultBranch !== '' && branchRef(defaultBranch) === undefined) {
    fault('default_branch', ['is invalid'])
  }
  return faults
}

/** The level asked for, or the usual one lowered to the parent's. */
export function chooseVisibility(
  asked: VisibilityName | undefined,
  usual: VisibilityName,
  parent: { readonly visibility: number } | undefined,
): number {
  if (asked !== undefined) return Visibility[asked]
  return Math.min(Visibility[usual], parent?.visibility ?? Visibility.public)
}

/** What surrounds a group whose visibility is chosen; the highest levels below it are 0 where nothing is. */
export interface Surroundings {
  readonly parent: number | undefined
  readonly groupsBelow: number
  readonly projectsBelow: number
}

export function visibilityFaults(
  level: number,
  { parent, groupsBelow, projectsBelow }: Surroundings,
): string[] {
  const name = visibilityName(level)
  const faults: string[] = []
  if (parent !== undefined && level > parent) {
    faults.push(`${name} is not allowed since the parent group has a ${visibilityName(parent)} visibility.`)
  }
  if (level < projectsBelow) {
    faults.push(`${name} is not allowed since this group contains projects with higher visibility.`)
  }
  if (level < groupsBelow) {
    faults.push(`${name} is not allowed since there are sub-groups with higher visibility.`)
  }
  return faults
}

/** Levels that only administrators may choose (completions of part 3, 8.3). */
export function restrictionFaults(
  level: number,
  restricted: readonly string[],
  administrator: boolean,
): string[] {
  const name = visibilityName(level)
  return administrator || !restricted.includes(name)
    ? []
    : [`${name} has been restricted by your ${product} administrator`]
}

/** An update tells faults as an object. */
export function refuseUpdate(faults: Faults): void {
  if (Object.keys(faults).length > 0) throw invalid(faults)
}

/** A creation tells them as one text, in the way that clients know to take apart. */
export function refuseCreation(faults: Faults): void {
  if (Object.keys(faults).length > 0) throw creationRefused(faults)
}

export function creationRefused(faults: Faults): Error {
  return refused(400, `Failed to save group ${inspected(faults)}`)
}

/** `{:path=>["has already been taken"]}` */
export function inspected(faults: Faults): string {
  const entries = Object.entries(faults).map(([attribute, texts]) => {
    const key = /^[a-z_]\w*$/i.test(attribute) ? `:${attribute}` : `:${quoted(attribute)}`
    return `${key}=>[${texts.map(quoted).join(', ')}]`
  })
  return `{${entries.join(', ')}}`
}

function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&').replace(/#(?=[{$@])/g, '\\#')}"`
}
