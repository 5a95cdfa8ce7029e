const minute = 60
const hour = 60 * minute
/** As people work: eight hours a day, five days a week, four weeks a month. */
const day = 8 * hour
const week = 5 * day
const month = 4 * week

const units: Readonly<Record<string, number>> = { mo: month, w: week, d: day, h: hour, m: minute, s: 1 }
const longest = 2 ** 31 - 1

/** `1mo 2w 3d 4h 5m` in seconds, a bare number as hours; undefined where it cannot be read. A minus goes for all of it. */
export function parseDuration(text: string): number | undefined {
  const trimmed = text.trim().toLowerCase()
  const negative = trimmed.startsWith('-')
  const rest = negative ? trimmed.slice(1).trim() : trimmed
  if (rest.length > 100 || !/^(\d+(\.\d+)?\s*(mo|w|d|h|m|s)?\s*)+$/.test(rest)) return undefined
  const pieces = [...rest.matchAll(/(\d+(?:\.\d+)?)\s*(mo|w|d|h|m|s)?/g)]
  const seconds = pieces.reduce((sum, [, number, unit]) => sum + Number(number) * units[unit ?? 'h']!, 0)
  if (seconds > longest) return undefined
  return Math.round(negative ? -seconds : seconds)
}

/** The other way: `1d 4h`, or `12h` where hours are the largest unit; null for nothing. */
export function writeDuration(
  seconds: number,
  { hoursOnly = false }: { readonly hoursOnly?: boolean | undefined } = {},
): string | null {
  if (seconds === 0) return null
  let rest = Math.abs(seconds)
  const pieces: string[] = []
  for (const [unit, size] of Object.entries(units)) {
    if (hoursOnly && size > hour) continue
    const number = Math.floor(rest / size)
    if (number > 0) pieces.push(`${number}${unit}`)
    rest -= number * size
  }
  return (seconds < 0 ? '-' : '') + pieces.join(' ')
}
