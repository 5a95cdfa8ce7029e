import { tags } from '../dom.ts'

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'medium' })

/** With how many seconds each begins. */
const units: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['year', 31_557_600],
  ['month', 2_629_800],
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 0],
]

/** How long ago something was; pointing at it tells the very time. `iso`: as the API writes times. */
export function ago(iso: string): HTMLElement {
  const time = new Date(iso)
  const seconds = (time.getTime() - Date.now()) / 1000
  const [unit, length] = units.find(([, least]) => Math.abs(seconds) >= least)!
  const text = relative.format(Math.trunc(seconds / Math.max(length, 1)), unit)
  return tags.time({ dateTime: iso, title: exact.format(time) }, text)
}

/** A length of time in seconds as `1:02:03` or `2:03`. */
export function clock(seconds: number): string {
  const whole = Math.round(seconds)
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60]
  const two = (number: number): string => String(number).padStart(2, '0')
  return hours > 0 ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`
}
