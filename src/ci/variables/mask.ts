/**
 * Whether a value can be masked in logs: one line of at least eight characters; a value that is expanded has no
 * characters but letters, digits and `_+=/@:.~-`, a raw one anything but white space.
 */
export function isMaskable(value: string, raw: boolean): boolean {
  return raw ? /^[^\s\p{Cc}]{8,}$/u.test(value) : /^[\w+=/@:.~-]{8,}$/.test(value)
}
