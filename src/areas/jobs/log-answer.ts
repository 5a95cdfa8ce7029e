import { ApiError } from '../../kernel/errors/index.ts'
import { Answer } from '../../kernel/endpoint/index.ts'
import type { TracePart, Traces } from './traces.ts'

/** The log of a job as it is now, or the one part of it that is asked for (RFC 9110, 14.2). */
export async function logAnswer(traces: Traces, jobId: number, range: string | undefined): Promise<Answer> {
  const part = range === undefined ? undefined : partOf(range)
  const found = await traces.read(jobId, part)
  const headers = { 'content-type': 'text/plain', 'accept-ranges': 'bytes' }
  if (found === undefined) {
    if (part === undefined) return new Answer(200, headers, '')
    const size = await traces.size(jobId)
    throw new ApiError(416, { error: '416 Range Not Satisfiable' }, { 'content-range': `bytes */${size}` })
  }
  const { first, size, whole, content } = found
  const length = { ...headers, 'content-length': String(size) }
  if (part === undefined) return new Answer(200, length, content)
  return new Answer(
    206,
    { ...length, 'content-range': `bytes ${first}-${first + size - 1}/${whole}` },
    content,
  )
}

/** `bytes=10-19`, `bytes=10-`, `bytes=-5`; undefined for all that is no single range, which counts as none. */
function partOf(range: string): TracePart | undefined {
  const match = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(range.trim())
  if (match === null) return undefined
  const [first, end] = [match[1]!, match[2]!]
  if (first === '') return end === '' ? undefined : { last: Number(end) }
  if (end !== '' && Number(end) < Number(first)) return undefined
  return { first: Number(first), end: end === '' ? Infinity : Number(end) }
}
