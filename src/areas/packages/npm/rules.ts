import semver from 'semver'
import { badRequest, forbidden } from '../../../kernel/errors/index.ts'

/** As the public registry takes names: lower case, at most 214 characters, with a scope or without one. */
const nameForm = /^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/

export function isName(name: string): boolean {
  return name.length <= 214 && nameForm.test(name) && !name.includes('..')
}

export function checkName(name: string): void {
  if (!isName(name)) throw badRequest('package_name is invalid')
}

export function checkVersion(version: string): void {
  if (version.length > 255 || semver.valid(version) !== version) throw badRequest('version is invalid')
}

/** No tag may look like a version: `npm install x@1.0` would not know which is meant. */
export function checkTag(tag: string): void {
  if (tag.length > 255 || !/^[A-Za-z][A-Za-z0-9._-]*$/.test(tag) || semver.validRange(tag) !== null)
    throw badRequest('tag is invalid')
}

/** The name as one segment of an address. */
export const escaped = (name: string): string => name.replace('/', '%2f')

/** `@scope/name-1.0.0.tgz` lies under `name-1.0.0.tgz`. */
export const fileNameOf = (name: string, version: string): string =>
  `${name.replace(/^.*\//, '')}-${version}.tgz`

const shownFields = [
  ...['description', 'license', 'bin', 'directories', 'dependencies', 'devDependencies', 'engines'],
  ...['bundleDependencies', 'bundledDependencies', 'peerDependencies', 'peerDependenciesMeta'],
  ...['optionalDependencies', 'acceptDependencies', 'os', 'cpu', 'libc', 'funding', 'deprecated'],
  ...['_hasShrinkwrap', 'hasInstallScript'],
]
/** Characters of what a version tells of itself. */
const longestManifest = 100_000

/** What clients need to know of a version before they have its file. */
export function manifestOf(version: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const kept = Object.fromEntries(
    shownFields.filter((field) => version[field] !== undefined).map((field) => [field, version[field]]),
  )
  if (JSON.stringify(kept).length > longestManifest) throw badRequest('The manifest is too large')
  return kept
}

export const alreadyThere = (): Error => forbidden('Package already exists.')

/** The highest of these, and of releases before others: what `latest` is where nobody has said so. */
export function latestOf(versions: readonly string[]): string | undefined {
  const sorted = versions.toSorted(semver.rcompare)
  return sorted.find((version) => semver.prerelease(version) === null) ?? sorted[0]
}
