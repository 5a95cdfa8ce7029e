import semver from 'semver'

interface Version {
  readonly numbers: readonly number[]
  /** Empty of a release. */
  readonly suffix: string
}

function read(text: string): Version | undefined {
  const [, main, suffix = ''] =
    /^(\d{1,9}(?:\.\d{1,9}){0,3})(-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$/.exec(text) ?? []
  if (main === undefined || text.length > 255) return undefined
  if (suffix !== '' && semver.valid(`1.0.0${suffix}`) === null) return undefined
  const numbers = main.split('.').map(Number)
  return { numbers: [...numbers, 0, 0, 0, 0].slice(0, 4), suffix }
}

/** As all clients write it: three numbers, a fourth where it is not 0, lower case, nothing of the build. Undefined for what is none. */
export function normalizedVersion(text: string): string | undefined {
  const version = read(text)
  if (version === undefined) return undefined
  const { numbers, suffix } = version
  const [first, second, third, fourth] = numbers
  return `${first}.${second}.${third}${fourth === 0 ? '' : `.${fourth}`}${suffix}`.toLowerCase()
}

/** For normalized versions, the lowest first. */
export function compareVersions(one: string, other: string): number {
  const [a, b] = [read(one)!, read(other)!]
  for (const [index, number] of a.numbers.entries())
    if (number !== b.numbers[index]) return number - b.numbers[index]!
  return semver.compare(`1.0.0${a.suffix}`, `1.0.0${b.suffix}`)
}

export const isPrerelease = (version: string): boolean => version.includes('-')
