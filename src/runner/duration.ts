const units: Record<string, number> = { h: 3600, m: 60, s: 1, ms: 0.001 }

/** Seconds of `1h30m`, `45s`, `90`; undefined when it is not a duration. */
export function parseDuration(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const trimmed = text.trim()
  if (/^\d+(\.\d+)?$/.test(trimmed)) return Number(trimmed)
  if (!/^(\d+(\.\d+)?(h|ms|m|s))+$/.test(trimmed)) return undefined
  let seconds = 0
  for (const [, amount, unit] of trimmed.matchAll(/(\d+(?:\.\d+)?)(h|ms|m|s)/g)) {
    seconds += Number(amount) * units[unit!]!
  }
  return seconds
}

/** `3661` is `1h1m1s`, as the field's runners print it. */
export function formatDuration(seconds: number) {
  const hours = Math.floor(seconds / 3600)
  const minutes = Math.floor((seconds % 3600) / 60)
  const rest = `${Math.round((seconds % 60) * 1000) / 1000}s`
  if (hours > 0) return `${hours}h${minutes}m${rest}`
  return minutes > 0 ? `${minutes}m${rest}` : rest
}
