const units: Readonly<Record<string, 'days' | 'weeks' | 'months' | 'years'>> = {
  day: 'days',
  week: 'weeks',
  month: 'months',
  year: 'years',
}
const weekdays = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday']

/** `2025-07-01`, `tomorrow`, `in 2 weeks`, `next friday` as a day; undefined for what is none. */
export function dayOf(text: string, now = new Date()): string | undefined {
  const words = text.trim().toLowerCase()
  if (/^\d{4}-\d{2}-\d{2}$/.test(words)) return isDay(words) ? words : undefined
  const day = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()))
  const [, number, unit] = /^in (\d{1,4}) (day|week|month|year)s?$/.exec(words) ?? []
  if (unit !== undefined) {
    const count = Number(number)
    if (units[unit] === 'days') day.setUTCDate(day.getUTCDate() + count)
    if (units[unit] === 'weeks') day.setUTCDate(day.getUTCDate() + 7 * count)
    if (units[unit] === 'months') day.setUTCMonth(day.getUTCMonth() + count)
    if (units[unit] === 'years') day.setUTCFullYear(day.getUTCFullYear() + count)
    return written(day)
  }
  const weekday = weekdays.indexOf(words.replace(/^(next|this) /, ''))
  if (weekday !== -1) {
    day.setUTCDate(day.getUTCDate() + ((weekday - day.getUTCDay() + 6) % 7) + 1)
    return written(day)
  }
  const ahead = { today: 0, tomorrow: 1 }[words]
  if (ahead === undefined) return undefined
  day.setUTCDate(day.getUTCDate() + ahead)
  return written(day)
}

const written = (day: Date): string => day.toISOString().slice(0, 10)

function isDay(text: string): boolean {
  const day = new Date(`${text}T00:00:00Z`)
  return !Number.isNaN(day.getTime()) && written(day) === text
}
