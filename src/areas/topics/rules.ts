import { badRequest, invalid } from '../../kernel/errors/index.ts'

export interface TopicValues {
  readonly name: string
  readonly title: string
  readonly description: string | null
}

const longest = { name: 255, title: 255, description: 1024 } as const

/** Refuses what can be no topic; all faults are told at once. */
export function check(values: TopicValues): void {
  const faults: Record<string, string[]> = {}
  const fault = (field: string, text: string): void => void (faults[field] ??= []).push(text)
  for (const field of ['name', 'title'] as const) {
    if (values[field].trim() === '') fault(field, "can't be blank")
    if (/[\r\n]/.test(values[field])) fault(field, 'has to be one line')
  }
  for (const field of ['name', 'title', 'description'] as const) {
    if ((values[field]?.length ?? 0) > longest[field]) {
      fault(field, `is too long (maximum is ${longest[field]} characters)`)
    }
  }
  // The parameter `topic` of lists of projects separates names by it.
  if (values.name.includes(',')) fault('name', 'cannot contain commas')
  if (Object.keys(faults).length > 0) throw invalid(faults)
}

export const taken = (): Error => invalid({ name: ['has already been taken'] })
export const identical = (): Error => badRequest('The source topic and the target topic are identical.')
