import type { JobInput, JobPayload } from './payload.ts'

const expression = /\$\{\{\s*job\.inputs\.([\w-]+)\s*\}\}/g

/** Puts the values of the job's inputs where `${{ job.inputs.name }}` stands; an unknown name is an error. */
export function interpolateInputs(job: JobPayload): JobPayload {
  const inputs = job.inputs ?? []
  if (inputs.length === 0) return job
  const put = (value: unknown): unknown => {
    if (typeof value === 'string') return value.replace(expression, (_, key: string) => textOf(inputs, key))
    if (Array.isArray(value)) return value.map(put)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, put(inner)]))
  }
  const { steps, artifacts, cache, hooks } = job
  return { ...job, ...(put({ steps, artifacts, cache, hooks }) as Partial<JobPayload>) }
}

function textOf(inputs: JobInput[], key: string) {
  const input = inputs.find((candidate) => candidate.key === key)
  if (input === undefined) throw new RangeError(`unknown input: ${key}`)
  const { content } = input.value
  return typeof content === 'string' ? content : JSON.stringify(content)
}
