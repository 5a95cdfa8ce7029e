import { createHash } from 'node:crypto'

/** Lower case, all but `a-z0-9` made `-`, at most 63 characters, no `-` at the ends: fits a host name. */
export function refSlug(ref: string): string {
  return dashed(ref)
    .slice(0, 63)
    .replaceAll(/^-+|-+$/g, '')
}

/** The part of an address that a site with this `path_prefix` has: like the slug of a ref, but dots stay, not at the ends. */
export function sitePrefix(written: string): string {
  return written
    .toLowerCase()
    .replaceAll(/[^a-z0-9.]/g, '-')
    .slice(0, 63)
    .replaceAll(/^[-.]+|[-.]+$/g, '')
}

const longestEnvironmentSlug = 24

/**
 * Fits a host name and a label: at most 24 characters of `a-z0-9-`, a letter in front. A name that does not survive as
 * it is gets six characters of its digest at the end, so that different names keep different slugs.
 */
export function environmentSlug(name: string): string {
  const plain = dashed(name)
  const letterFirst = /^[a-z]/.test(plain) ? plain : `env-${plain}`
  const squeezed = letterFirst.replaceAll(/-+/g, '-')
  if (squeezed === name && squeezed.length <= longestEnvironmentSlug) return squeezed.replace(/-$/, '')
  const digest = BigInt(`0x${createHash('sha256').update(name).digest('hex')}`)
    .toString(36)
    .slice(-6)
  return `${squeezed.slice(0, longestEnvironmentSlug - 7).replace(/-+$/, '')}-${digest}`
}

const tiers: [pattern: RegExp, tier: string][] = [
  [/dev|review|trunk/i, 'development'],
  [/test|tst|int|ac(ce|)pt|qa|qc|control|quality/i, 'testing'],
  [/st(a|)g|mod(e|)l|pre|demo|non/i, 'staging'],
  [/pr(o|)d|live/i, 'production'],
]

/** The tier of an environment that names none, judged by its name. */
export function guessTier(environment: string): string {
  return tiers.find(([pattern]) => pattern.test(environment))?.[1] ?? 'other'
}

function dashed(text: string): string {
  return text.toLowerCase().replaceAll(/[^a-z0-9]/g, '-')
}
