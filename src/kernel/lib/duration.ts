const minute = 60
const hour = 60 * minute
const day = 24 * hour

/** Unit spellings, longest meaning first; a month is 30 days and a year 365.25, as users of this syntax expect. */
const units: [seconds: number, names: string[]][] = [
  [365.25 * day, ['y', 'yr', 'yrs', 'year', 'years']],
  [30 * day, ['mo', 'mos', 'month', 'months']],
  [7 * day, ['w', 'wk', 'wks', 'week', 'weeks']],
  [day, ['d', 'day', 'days']],
  [hour, ['h', 'hr', 'hrs', 'hour', 'hours']],
  [minute, ['m', 'min', 'mins', 'minute', 'minutes']],
  [1, ['s', 'sec', 'secs', 'second', 'seconds']],
]
const secondsOf = new Map(units.flatMap(([seconds, names]) => names.map((name) => [name, seconds] as const)))

const ones = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine']
const teens = [
  ...['ten', 'eleven', 'twelve', 'thirteen', 'fourteen'],
  ...['fifteen', 'sixteen', 'seventeen', 'eighteen', 'nineteen'],
]
const tens = ['twenty', 'thirty', 'forty', 'fifty', 'sixty', 'seventy', 'eighty', 'ninety']
const valueOf = new Map([
  ...[...ones, ...teens].map((word, index) => [word, index + 1] as const),
  ...tens.map((word, index) => [word, 20 + 10 * index] as const),
])
const spelledOut = new RegExp(
  `\\b(?:(${tens.join('|')})(?:[ -](${ones.join('|')}))?|${[...ones, ...teens].join('|')})\\b`,
  'g',
)

/** `one week` is `1 week`, `thirty-five` is `35`. */
function inDigits(words: string): string {
  return words.replace(spelledOut, (word, ten?: string, one?: string) =>
    String(ten === undefined ? valueOf.get(word)! : valueOf.get(ten)! + (valueOf.get(one ?? '') ?? 0)),
  )
}

/**
 * Seconds of a natural duration: `1 hour 30 minutes`, `2h, 5m and 10s`, `one week`, `1:30:00`, `90`. A number alone
 * counts seconds. Null when it is none.
 */
export function parseDuration(text: string | number): number | null {
  if (typeof text === 'number') return Number.isFinite(text) && text >= 0 ? text : null
  if (text.length > 255) return null
  const words = inDigits(text.trim().toLowerCase())
  if (words === '') return null
  if (/^\d+(:\d+){1,2}$/.test(words))
    return words.split(':').reduce((sum, part) => sum * 60 + Number(part), 0)

  const part = /(\d+(?:\.\d+)?)\s*([a-z]*)(?:\s*,)?(?:\s+and\b)?\s*/y
  let total = 0
  while (part.lastIndex < words.length) {
    const match = part.exec(words)
    if (match === null) return null
    const [, amount, unit] = match
    const seconds = unit === '' ? 1 : secondsOf.get(unit!)
    if (seconds === undefined) return null
    total += Number(amount) * seconds
  }
  return Number.isSafeInteger(Math.round(total)) ? Math.round(total) : null
}
