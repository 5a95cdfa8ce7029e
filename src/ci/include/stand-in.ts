import type { Bridge } from '../types.ts'

/**
 * The configuration of a child pipeline: nothing but the includes of its trigger job. Inputs of the trigger reach every
 * file that is not given its own.
 */
export function childSource({ include, inputs }: Pick<Bridge, 'include' | 'inputs'>): string {
  const common = Object.keys(inputs).length === 0 ? {} : { inputs }
  return JSON.stringify({ include: (include ?? []).map((one) => ({ ...common, ...one })) })
}

/** Where a project's configuration lies: a path in its own repository, or a text to be read in its stead. */
export type ConfigLocation = { path: string } | { source: string }

/** Reads the setting `ci_config_path`: a path, a URL, or `path@group/project[:ref]`. */
export function configLocation(setting: string | null): ConfigLocation {
  const written = setting?.trim() ?? ''
  if (written === '') return { path: '.gitlab-ci.yml' }
  if (/^https?:\/\//.test(written)) return { source: JSON.stringify({ include: [{ remote: written }] }) }
  const match = /^([^@]+)@([^@:]+)(?::(.+))?$/.exec(written)
  if (match === null) return { path: written.replace(/^\/+/, '') }
  const [, file, project, ref] = match
  return { source: JSON.stringify({ include: [{ project, file, ...(ref && { ref }) }] }) }
}
