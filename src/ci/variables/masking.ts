export function isMaskable(value: string, { raw }: { raw: boolean }): boolean {
  return raw ? /^\S{8,}$/.test(value) : /^[a-zA-Z0-9_+=/@:.~-]{8,}$/.test(value)
}
