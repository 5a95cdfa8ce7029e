const iso =
  /^(\d{4})(-?)(\d\d)\2(\d\d)(?:[T ](\d\d)(?:(:?)(\d\d)(?:\6(\d\d)(?:[.,](\d{1,9}))?)?)?(?:(Z)|([+-])(\d\d)(?::?(\d\d))?)?)?$/i

const firstInstant = Date.parse('0001-01-01T00:00:00.000Z')
const lastInstant = Date.parse('9999-12-31T23:59:59.999Z')

/**
 * ISO 8601 text, extended or basic, also as the database writes it (a blank for the `T`, microseconds). A date alone is
 * midnight, a time without offset is UTC. Undefined unless it is a moment of the years 1 to 9999, which is what both
 * the database and the answer's format can hold.
 */
export function parseInstant(text: string): Date | undefined {
  const match = iso.exec(text)
  if (match === null) return undefined
  const [
    ,
    year,
    ,
    month,
    day,
    hour = '0',
    ,
    minute = '0',
    second = '0',
    fraction = '',
    ,
    sign,
    offHour,
    offMinute,
  ] = match
  if (!isDay(Number(year), Number(month), Number(day))) return undefined
  const [h, m, s, oh, om] = [hour, minute, second, offHour ?? '0', offMinute ?? '0'].map(Number) as Five
  if (h > 23 || m > 59 || s > 59 || oh > 23 || om > 59) return undefined
  // Date.UTC takes the years 0 to 99 for 1900 to 1999.
  const date = new Date(0)
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day))
  const offset = (sign === '-' ? -1 : 1) * (oh * 60 + om)
  const time = date.setUTCHours(h, m - offset, s, Number(fraction.padEnd(3, '0').slice(0, 3)))
  return time >= firstInstant && time <= lastInstant ? date : undefined
}

type Five = [number, number, number, number, number]

const dayText = /^(\d{4})-(\d\d)-(\d\d)$/

/** Whether the text is `YYYY-MM-DD` and such a day exists. */
export function isDayText(text: string): boolean {
  const match = dayText.exec(text)
  return match !== null && isDay(Number(match[1]), Number(match[2]), Number(match[3]))
}

const daysOf = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

function isDay(year: number, month: number, day: number): boolean {
  if (year < 1 || month < 1 || month > 12 || day < 1) return false
  const leap = month === 2 && year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  return day <= daysOf[month - 1]! + (leap ? 1 : 0)
}

/** As the database mostly writes it in JSON: how it begins is the answer's form. */
const utcInJson = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3,9}(?:Z|\+00:00)$/

/** UTC in the answer's form or the database's: all but the shape of the fraction is there. */
const utc = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(?:Z|\+00(?::?00)?)$/

/**
 * `YYYY-MM-DDTHH:MM:SS.mmmZ` of a Date, or of ISO or database text; a finer fraction is cut off. Null for what is no
 * moment of the years 1 to 9999 (`infinity`).
 */
export function timestampText(moment: Date | string): string | null {
  if (typeof moment !== 'string') return dateText(moment)
  if (utcInJson.test(moment)) return `${moment.slice(0, 23)}Z`
  const match = utc.exec(moment)
  if (match !== null) {
    const [, day, time, fraction = ''] = match
    return `${day!}T${time!}.${fraction.length >= 3 ? fraction.slice(0, 3) : fraction.padEnd(3, '0')}Z`
  }
  const parsed = parseInstant(moment)
  return parsed === undefined ? null : dateText(parsed)
}

const twoDigits = Array.from({ length: 100 }, (_, number) => String(number).padStart(2, '0'))

/** `toISOString` at a third of its cost, which is most of what writing a list costs. */
function dateText(date: Date): string | null {
  const time = date.getTime()
  if (!(time >= firstInstant && time <= lastInstant)) return null
  const year = date.getUTCFullYear()
  const millisecond = date.getUTCMilliseconds()
  return (
    `${twoDigits[Math.trunc(year / 100)]!}${twoDigits[year % 100]!}-${twoDigits[date.getUTCMonth() + 1]!}-` +
    `${twoDigits[date.getUTCDate()]!}T${twoDigits[date.getUTCHours()]!}:${twoDigits[date.getUTCMinutes()]!}:` +
    `${twoDigits[date.getUTCSeconds()]!}.${Math.trunc(millisecond / 100)}${twoDigits[millisecond % 100]!}Z`
  )
}
