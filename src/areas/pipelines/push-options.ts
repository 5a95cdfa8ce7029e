import type { Actor, ProjectSubject } from '../../access/index.ts'
import { branchName, isZero, tagName, type UpdateOutcome } from '../../git/index.ts'
import type { GivenVariable } from './pipeline-request.ts'
import { checkVariables } from './rules.ts'

/**
 * What somebody who pushes is told of variables that his push may not set: it gets no pipelines, which are made beside
 * it, where nobody listens.
 */
export function variableWarnings(
  actor: Actor,
  project: ProjectSubject,
  { applied }: Pick<UpdateOutcome, 'applied'>,
  pushOptions: readonly string[],
): string[] {
  const building = applied.some(
    ({ ref, newOid }) => !isZero(newOid) && (branchName(ref) ?? tagName(ref)) !== undefined,
  )
  const variables = variablesOf(pushOptions)
  if (!building || actor.job !== null) return []
  const why = checkVariables({ actor, project, variables })
  if (why === undefined) return []
  // Their values may be secrets.
  const named = variables.map(({ key }) => `'ci.variable=${key}'`).join(', ')
  return [
    '',
    'WARNINGS:',
    '',
    `Error encountered with push options ${named}: ${why}. No pipeline is created.`,
    '',
  ]
}

/** `ci.variable="K=V"`, with or without the quotes that reach us. */
export function variablesOf(pushOptions: readonly string[]): GivenVariable[] {
  const found = new Map<string, GivenVariable>()
  for (const option of pushOptions) {
    const match = /^ci\.variable="?(\w+)=(.*?)"?$/s.exec(option)
    if (match !== null) found.set(match[1]!, { key: match[1]!, value: match[2]!, variable_type: 'env_var' })
  }
  return [...found.values()]
}

/** `ci.input=k=v`; a value that is JSON is taken as what it says, such as a number or a list. */
export function inputsOf(pushOptions: readonly string[]): Record<string, unknown> {
  const given = pushOptions.flatMap((option) => {
    const match = /^ci\.input=([^=]+)=(.*)$/s.exec(option)
    return match === null ? [] : [[match[1]!, valueOf(match[2]!)] as const]
  })
  return Object.fromEntries(given)
}

function valueOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
