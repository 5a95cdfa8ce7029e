import { gunzipSync } from 'node:zlib'
import { parseDuration, reportTypes, type Variable } from '../../ci/index.ts'
import { invalidParameters, refused } from '../../kernel/errors/index.ts'

export const artifactFormats = ['zip', 'gzip', 'raw'] as const
export type ArtifactFormat = (typeof artifactFormats)[number]

const archiveFormats: Readonly<Record<string, readonly ArtifactFormat[]>> = {
  archive: ['zip'],
  metadata: ['gzip'],
  trace: ['raw'],
}

/** Refuses a type that is none, and a format that the type does not come in. */
export function checkKind(type: string, format: ArtifactFormat): void {
  const formats = Object.hasOwn(archiveFormats, type) ? archiveFormats[type] : undefined
  const report = reportTypes.get(type)
  if (formats === undefined && report === undefined) {
    throw invalidParameters(['artifact_type does not have a valid value'])
  }
  const fits = formats?.includes(format) ?? report?.format === format
  if (!fits) throw invalidParameters(['artifact_format does not have a valid value'])
}

/** When an artifact goes: as the job says, else as the instance does; null: never. */
export function expiryOf(expireIn: string | undefined, fallback: string, now: Date): Date | null {
  const text = expireIn === undefined || expireIn === '' ? fallback : expireIn
  if (text === 'never' || text === '0') return null
  const seconds = parseDuration(text)
  if (seconds === null) throw invalidParameters(['expire_in is invalid'])
  return seconds === 0 ? null : new Date(now.getTime() + seconds * 1000)
}

/** Bytes of a dotenv report that was taken, whatever is allowed by now. */
const largestDotenv = 1024 * 1024

/** The variables of a dotenv report, which later jobs get; refuses what is none (completions, 8.7). */
export function readDotenv(
  gzipped: Buffer,
  { size, variables: most }: { readonly size: number; readonly variables: number } = {
    size: largestDotenv,
    variables: Infinity,
  },
): Variable[] {
  let text: string
  try {
    text = gunzipSync(gzipped, { maxOutputLength: Math.max(1, Math.min(size, largestDotenv)) }).toString(
      'utf8',
    )
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE'
      ? refused(400, `Dotenv Artifact Too Big. Maximum Allowable Size: ${size}`)
      : refused(400, 'Invalid Format')
  }
  const values = new Map<string, string>()
  for (const line of text.split('\n').map((untrimmed) => untrimmed.trim())) {
    if (line === '') continue
    // Quotes are part of the value: they are no syntax of these files, whatever shells and libraries make of them.
    const match = /^(?:export\s+)?(\w+)\s*=\s*(.*)$/.exec(line)
    if (match === null) throw refused(400, 'Invalid Format')
    values.set(match[1]!, match[2]!)
  }
  if (values.size > most) throw refused(400, `Dotenv files cannot have more than ${most} variables`)
  return [...values].map(([key, value]) => ({ key, value }))
}
