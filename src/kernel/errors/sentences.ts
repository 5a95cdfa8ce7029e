import type { ErrorBody } from './api-error.ts'

/** What a refusal says, for people: faults of an attribute begin with its name, `Visibility level has been restricted`. */
export function sentencesOf(body: ErrorBody): string[] {
  const told = 'message' in body ? body.message : 'errors' in body ? body.errors : body.error
  if (typeof told === 'string') return [told]
  if (Array.isArray(told)) return told
  return Object.entries(told).flatMap(([attribute, faults]) =>
    [faults].flat().map((fault: string) => {
      const words = attribute.replaceAll('_', ' ')
      return attribute === 'base' ? fault : `${words.charAt(0).toUpperCase()}${words.slice(1)} ${fault}`
    }),
  )
}
