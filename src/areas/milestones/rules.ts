import { refused } from '../../kernel/errors/index.ts'
import { isLonger } from '../../kernel/lib/characters.ts'

const longestTitle = 255
const longestDescription = 1_000_000

export interface MilestoneValues {
  readonly title: string
  readonly description: string | null
  readonly start_date: string | null
  readonly due_date: string | null
}

/** 400 in the words of the milestones, which name their faults in a form of their own. */
export function refuse(
  verb: 'create' | 'update',
  faults: Readonly<Record<string, readonly string[]>>,
): Error {
  const texts = Object.entries(faults).map(
    ([field, messages]) => `:${field}=>[${messages.map((text) => JSON.stringify(text)).join(', ')}]`,
  )
  return refused(400, `Failed to ${verb} milestone {${texts.join(', ')}}`)
}

export function checkMilestone(verb: 'create' | 'update', values: MilestoneValues): void {
  const faults: Record<string, string[]> = {}
  if (values.title === '') faults['title'] = ["can't be blank"]
  else if (isLonger(values.title, longestTitle)) {
    faults['title'] = [`is too long (maximum is ${longestTitle} characters)`]
  }
  if (isLonger(values.description ?? '', longestDescription)) {
    faults['description'] = [`is too long (maximum is ${longestDescription} characters)`]
  }
  const { start_date: start, due_date: due } = values
  if (start !== null && due !== null && due < start) {
    faults['due_date'] = ['must be greater than start date']
  }
  if (Object.keys(faults).length > 0) throw refuse(verb, faults)
}

export const titleTaken = (verb: 'create' | 'update'): Error =>
  refuse(verb, { title: ['already being used for another group or project milestone.'] })
