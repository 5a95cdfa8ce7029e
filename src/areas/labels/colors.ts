import names from 'color-name'

/** Of a label that nobody gave a colour. */
export const defaultColor = '#6699cc'

/** `#RGB`, `#RRGGBB` or a colour's name in CSS as the six digits that are stored; undefined for anything else. */
export function parseColor(text: string): string | undefined {
  const trimmed = text.trim()
  if (/^#[0-9a-f]{6}$/i.test(trimmed)) return trimmed
  if (/^#[0-9a-f]{3}$/i.test(trimmed)) return trimmed.replace(/[0-9a-f]/gi, (digit) => digit + digit)
  const name = trimmed.toLowerCase()
  if (!Object.hasOwn(names, name)) return undefined
  return `#${names[name]!.map((part) => part.toString(16).padStart(2, '0')).join('')}`
}

/** What can be read on a colour: dark on light, light on dark. */
export function textColor(color: string): string {
  const value = Number.parseInt(color.slice(1), 16)
  const sum = (value >> 16) + ((value >> 8) & 255) + (value & 255)
  return sum > 500 ? '#1F1E24' : '#FFFFFF'
}
