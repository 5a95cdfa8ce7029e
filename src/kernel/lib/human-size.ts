const units = ['Bytes', 'KB', 'MB', 'GB', 'TB']

/** `51.2 MB`: units of 1024, three significant digits, no zeros at the end. */
export function humanSize(bytes: number): string {
  if (bytes < 1024) return bytes === 1 ? '1 Byte' : `${bytes} Bytes`
  const rank = Math.min(Math.floor(Math.log(bytes) / Math.log(1024)), units.length - 1)
  const value = bytes / 1024 ** rank
  return `${Number(value >= 100 ? value.toFixed(0) : value.toPrecision(3))} ${units[rank]!}`
}
