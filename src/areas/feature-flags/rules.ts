import { invalid } from '../../kernel/errors/index.ts'
import type { StrategyName } from './entities.ts'

const longestName = 63
const longestText = 255
const longestId = 256

type Faults = Record<string, string[]>

function refuse(faults: Faults): void {
  if (Object.keys(faults).length > 0) throw invalid(faults)
}

const tooLong = (most: number): string => `is too long (maximum is ${most} characters)`

/** Refuses a name that can be none, or a description without end. */
export function checkFlag({ name, description }: { name: string; description: string | null }): void {
  const ofName = [
    ...(name.length > longestName ? [tooLong(longestName)] : []),
    ...(/^[a-z](?:[-_a-z0-9]*[a-z0-9])?$/.test(name)
      ? []
      : [
          "can contain only lowercase letters, digits, '_' and '-'. Must start with a letter, and cannot end with '-' or '_'",
        ]),
  ]
  const ofDescription = (description?.length ?? 0) > longestText ? [tooLong(longestText)] : []
  refuse({
    ...(ofName.length > 0 && { name: ofName }),
    ...(ofDescription.length > 0 && { description: ofDescription }),
  })
}

/** A strategy as it is to be kept. */
export interface Strategy {
  readonly name: StrategyName
  readonly parameters: Readonly<Record<string, unknown>>
  readonly userListId: number | null
  readonly scopes: readonly string[]
}

const percentage = /^(?:\d{1,2}|100)$/
const stickiness: ReadonlySet<unknown> = new Set(['default', 'userId', 'sessionId', 'random'])
const isText = (value: unknown, form: RegExp): boolean => typeof value === 'string' && form.test(value)
const groupId = /^[a-z]{1,32}$/

/** What is wrong with the parameters of a strategy, whose programs know them by these names; undefined: nothing. */
function parameterFault({ name, parameters }: Strategy): string | undefined {
  const keys = Object.keys(parameters).sort().join(' ')
  const exactly = (wanted: string): string | undefined =>
    keys === wanted
      ? undefined
      : `must have exactly ${wanted === '' ? 'no entries' : wanted.replaceAll(' ', ', ')}`
  switch (name) {
    case 'default':
    case 'gitlabUserList':
      return exactly('')
    case 'gradualRolloutUserId':
      return (
        exactly('groupId percentage') ??
        (isText(parameters['percentage'], percentage)
          ? undefined
          : 'percentage must be a string between 0 and 100 inclusive') ??
        (isText(parameters['groupId'], groupId) ? undefined : 'groupId parameter is invalid')
      )
    case 'flexibleRollout':
      return (
        exactly('groupId rollout stickiness') ??
        (isText(parameters['rollout'], percentage)
          ? undefined
          : 'rollout must be a string between 0 and 100 inclusive') ??
        (stickiness.has(parameters['stickiness']) ? undefined : 'stickiness parameter is invalid') ??
        (isText(parameters['groupId'], groupId) ? undefined : 'groupId parameter is invalid')
      )
    case 'userWithId':
      return (
        exactly('userIds') ??
        (typeof parameters['userIds'] === 'string' && areIds(parameters['userIds'])
          ? undefined
          : `userIds ${idsRule}`)
      )
  }
}

export function checkStrategies(strategies: readonly Strategy[]): void {
  for (const strategy of strategies) {
    const fault = parameterFault(strategy)
    if (fault !== undefined) refuse({ 'strategies.parameters': [fault] })
    const wantsList = strategy.name === 'gitlabUserList'
    if (wantsList !== (strategy.userListId !== null)) {
      refuse({ 'strategies.user_list': [wantsList ? "can't be blank" : 'must be blank'] })
    }
    const scopes = strategy.scopes
    if (scopes.some((scope) => !/^[\w\-${}./* ]{1,255}$/.test(scope))) {
      refuse({ 'strategies.scopes.environment_scope': ['is invalid'] })
    }
    if (new Set(scopes).size < scopes.length) {
      refuse({ 'strategies.scopes.environment_scope': ['has already been taken'] })
    }
  }
}

const idsRule = `must be a string of unique comma separated values each ${longestId} characters or less`

/** Names of users with commas between them; spaces around them do not count. */
function areIds(text: string): boolean {
  const ids = text.split(',').map((id) => id.trim())
  return new Set(ids).size === ids.length && ids.every((id) => id !== '' && id.length <= longestId)
}

export function checkList({ name, userXids }: { name: string; userXids: string }): void {
  const ofName =
    name.trim() === '' ? "can't be blank" : name.length > longestText ? tooLong(longestText) : undefined
  refuse({
    ...(ofName !== undefined && { name: [ofName] }),
    ...(userXids !== '' && !areIds(userXids) && { user_xids: [`user_xids ${idsRule}`] }),
  })
}

export const taken = (): Error => invalid({ name: ['has already been taken'] })

export const mostFlags = 200
export const tooMany = (): Error =>
  invalid({ base: [`Maximum number of project feature flags (${mostFlags}) exceeded`] })
