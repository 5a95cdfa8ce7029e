import { createHash } from 'node:crypto'

/** A UUID (version 8) that is the same each time for the same parts. */
export function stableUuid(...parts: readonly unknown[]): string {
  const digest = createHash('sha256').update(JSON.stringify(parts)).digest('hex')
  return digest.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-8$3-8$4-$5')
}
