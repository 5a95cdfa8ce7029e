import type { Actor } from '../actor.ts'
import type { Feature } from '../features.ts'
import { FeatureLevel, Role, Visibility } from '../levels.ts'
import type { ProjectSubject } from '../subjects.ts'
import { type Condition } from './condition.ts'

/* What abilities in projects hang on. */

type ProjectCondition = Condition<ProjectSubject>

/** A feature open to everyone who sees the project; with level `private` to its members only. */
export function feature(name: Feature, inPrivate: number = Role.guest): ProjectCondition {
  const lowest = (subject: ProjectSubject): number =>
    subject.visibility === Visibility.private ? inPrivate : Role.guest
  return {
    label: `${name} open to the caller`,
    holds(_, subject) {
      const level = subject.features[name]
      if (level === FeatureLevel.disabled) return false
      if (subject.role >= lowest(subject)) return true
      return level >= FeatureLevel.enabled && subject.visibility !== Visibility.private
    },
  }
}

/** A feature switched off is off for members and administrators too. */
export function off(name: Feature): ProjectCondition {
  return {
    label: `${name} disabled`,
    holds: (_, subject) => subject.features[name] === FeatureLevel.disabled,
  }
}

/** Environments are for Reporters, and for everybody where project and feature are open. */
export const environmentReader: ProjectCondition = {
  label: 'Reporter or higher, or environments open to everybody',
  holds(_, subject) {
    if (subject.role >= Role.reporter) return true
    return subject.features.environments >= FeatureLevel.enabled && subject.visibility !== Visibility.private
  },
}

/** Merge requests show code: in private projects they are for Planners and above, as a closed feature for Reporters. */
export const mergeRequestReader: ProjectCondition = {
  label: 'merge_requests open to the caller',
  holds(_, subject) {
    const level = subject.features.merge_requests
    if (level === FeatureLevel.disabled) return false
    if (level < FeatureLevel.enabled) return subject.role >= Role.reporter
    return subject.visibility !== Visibility.private || subject.role >= Role.planner
  },
}

export const issueWriter: ProjectCondition = {
  label: 'signed in, issues open to the caller',
  holds: (actor, subject) => actor.user !== null && feature('issues').holds(actor, subject),
}

export const archived: ProjectCondition = {
  label: 'project archived or marked for deletion',
  holds: (_, subject) => subject.archived || subject.deleting,
}

/** Pipelines cost: whoever has them run is somebody whom mail reaches (completions, 3.1). */
export const unconfirmed: ProjectCondition = {
  label: 'address not confirmed',
  holds: (actor) => actor.user !== null && actor.user.unconfirmedSince !== null,
}

export const publicJobs: ProjectCondition = {
  label: 'public jobs, builds open to the caller',
  holds: (actor, subject) =>
    subject.settings['public_jobs'] !== false && feature('builds').holds(actor, subject),
}

/** Among members images are for Reporters and above (7.1). */
export const imageReaders: ProjectCondition = {
  label: 'container_registry open to the caller, or Reporter or higher',
  holds(_, subject) {
    if (subject.role >= Role.reporter) return true
    const open = subject.features.container_registry >= FeatureLevel.enabled
    return open && subject.visibility !== Visibility.private
  },
}

/** Among members packages are for Reporters and above (7.1). */
export const packageReaders: ProjectCondition = {
  label: 'package_registry open to the caller, or Reporter or higher',
  holds(_, subject) {
    if (subject.role >= Role.reporter || subject.packagesForAll) return true
    const open = subject.features.package_registry >= FeatureLevel.enabled
    return open && subject.visibility !== Visibility.private
  },
}

/** The token of a job of this very project. */
export const ownJob: ProjectCondition = {
  label: 'job of this project',
  holds: (actor: Actor, subject) => actor.job?.projectId === subject.id,
}

const settableLevels: Readonly<Record<string, number>> = {
  developer: Role.developer,
  maintainer: Role.maintainer,
  owner: Role.owner,
}

/** A role that a setting of the project names, Developer unless changed. */
export function levelOf(setting: string): ProjectCondition {
  return {
    label: `${setting} (Developer unless changed)`,
    holds(_, subject) {
      const chosen = subject.settings[setting] ?? 'developer'
      const level = typeof chosen === 'string' ? settableLevels[chosen] : undefined
      return level !== undefined && subject.role >= level
    },
  }
}

/** The same setting may have a word that keeps administrators out, too. */
export function leftToNobody(setting: string, word: string): ProjectCondition {
  return { label: `${setting} is ${word}`, holds: (_, subject) => subject.settings[setting] === word }
}

export const anyJob: ProjectCondition = { label: 'a job', holds: (actor) => actor.job !== null }

/** A job that pushes would be a way around what its user may do by hand, where the project does not want that. */
export const jobThatMayNotPush: ProjectCondition = {
  label: 'a job, unless it is of this project and `ci_push_repository_for_job_token_allowed` is set',
  holds: ({ job }, { id, settings }) =>
    job !== null && (job.projectId !== id || settings['ci_push_repository_for_job_token_allowed'] !== true),
}

export const otherJob: ProjectCondition = {
  label: 'a job of another project that is not let in',
  holds: (actor, subject) => actor.job !== null && actor.job.projectId !== subject.id && !subject.openToJob,
}

/** A job reaches its own project and those that let it in, and others only where everybody may. */
export const foreignJob: ProjectCondition = {
  label: 'a job of another project that is not let in, and this one is private',
  holds: (actor, subject) => subject.visibility === Visibility.private && otherJob.holds(actor, subject),
}

export const codeClosed: ProjectCondition = {
  label: 'code closed to the caller',
  holds: (actor, subject) =>
    actor.user?.admin !== true &&
    !subject.permissions.includes('read_code') &&
    !feature('repository', Role.planner).holds(actor, subject),
}
