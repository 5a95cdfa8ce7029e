import { FeatureLevel, Visibility } from './levels.ts'
import type { ProjectSubject } from './subjects.ts'

/** An SSH key that acts by itself, for no user: what it may depends on the projects in which it is enabled. */
export interface DeployKey {
  readonly id: number
  readonly title: string
  /** Who added it; what it pushes counts as his. */
  readonly ownerId: number | null
  /** In the project that is asked about. */
  readonly enabled: boolean
  readonly canPush: boolean
  /** Its owner is there and may write to the project himself. */
  readonly ownerMayWrite: boolean
}

/** Whether a deploy key may fetch: from projects in which it is enabled, and from public ones like everybody. */
export function deployKeyMayDownload(key: DeployKey, { features, visibility }: ProjectSubject): boolean {
  if (features.repository === FeatureLevel.disabled) return false
  return key.enabled || (visibility === Visibility.public && features.repository >= FeatureLevel.enabled)
}

export function deployKeyMayUpload(key: DeployKey, { features, archived }: ProjectSubject): boolean {
  return key.enabled && key.canPush && !archived && features.repository !== FeatureLevel.disabled
}

/** The owner of a key, seen by his highest role in the project. */
export function isWriter(role: number | null, admin: boolean): boolean {
  return admin || (role ?? 0) >= 30
}
