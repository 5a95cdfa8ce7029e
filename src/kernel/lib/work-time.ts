/* Times of work as people write them: `1w 2d 3h 30m`, where a day has 8 hours, a week 5 days and a month 4 weeks. */

const units = { mo: 576_000, w: 144_000, d: 28_800, h: 3600, m: 60, s: 1 } as const

/** Seconds; undefined for what is no time. A minus before the whole takes away. */
export function parseWorkTime(text: string): number | undefined {
  const match = /^\s*([+-]?)\s*((?:\d{1,7}(?:\.\d{1,4})?\s*(?:mo|w|d|h|m|s)\s*)+)$/.exec(text)
  if (match === null) return undefined
  let seconds = 0
  for (const [, amount, unit] of match[2]!.matchAll(/(\d+(?:\.\d+)?)\s*(mo|w|d|h|m|s)/g)) {
    seconds += Number(amount) * units[unit as keyof typeof units]
  }
  return Math.round(match[1] === '-' ? -seconds : seconds)
}

/** `1w 2d 3h 30m`; null for none at all. Seconds are told where there is nothing larger. */
export function workTimeText(seconds: number): string | null {
  if (seconds === 0) return null
  let left = Math.abs(seconds)
  const parts: string[] = []
  for (const [unit, size] of Object.entries(units)) {
    const count = Math.floor(left / size)
    left -= count * size
    if (count > 0) parts.push(`${count}${unit}`)
  }
  return `${seconds < 0 ? '-' : ''}${parts.join(' ')}`
}
