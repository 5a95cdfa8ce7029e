import type { Settings } from '../../../settings/index.ts'
import { appIntegration, channelFor, integrations, type Properties, type ToldOf } from './catalogue.ts'
import { tellOf, type Payload } from './news.ts'

/** An integration as a webhook has it. */
export interface Configured {
  readonly name: string
  readonly properties: Properties
}

/** Whether the instance lets this integration be used. */
export function isAllowed({ values }: Settings, name: string): boolean {
  if (name === appIntegration && !values.chat_app_enabled) return false
  return values.allow_all_integrations || values.allowed_integrations.includes(name)
}

/** Whether a chat is told of this: of changes of no weight it is not, nor of branches and labels that it does not want. */
export function isWanted({ name, properties }: Configured, trigger: string, built: object): boolean {
  if (name === appIntegration && channelFor(properties, trigger as ToldOf) === undefined) return false
  const payload = built as Payload
  const of = payload.object_attributes
  switch (trigger) {
    case 'push':
      return isBranchWanted(properties, payload.ref?.replace('refs/heads/', ''), payload)
    case 'pipeline': {
      const { notify_only_broken_pipelines: onlyBroken = true } = properties
      const ended = of?.status === 'failed' || (of?.status === 'success' && !onlyBroken)
      return ended && (of.tag === true || isBranchWanted(properties, of.ref, payload))
    }
    case 'deployment':
      return payload.status !== 'created' && isBranchWanted(properties, payload.ref, payload)
    case 'issues':
    case 'confidential_issues':
    case 'merge_requests':
      return of?.action !== 'update' && areLabelsWanted(properties, payload.labels)
    case 'note':
    case 'confidential_note':
      return (
        of?.action !== 'update' &&
        areLabelsWanted(properties, payload.issue?.labels ?? payload.merge_request?.labels)
      )
    default:
      return true
  }
}

function isBranchWanted(
  { branches_to_be_notified: wanted = 'default' }: Properties,
  branch: string | undefined,
  { project, object_attributes: of, ref_protected }: Payload,
): boolean {
  const isDefault = branch === project.default_branch
  const isProtected = ref_protected ?? of?.protected_ref ?? false
  switch (wanted) {
    case 'all':
      return true
    case 'default':
      return isDefault
    case 'protected':
      return isProtected
    case 'default_and_protected':
      return isDefault || isProtected
  }
}

function areLabelsWanted(
  { labels_to_be_notified: listed = '', labels_to_be_notified_behavior: how = 'match_any' }: Properties,
  labels: Payload['labels'] = [],
): boolean {
  const wanted = listed.split(',').flatMap((label) => label.trim().replace(/^~/, '') || [])
  const has = (title: string): boolean => labels.some((label) => label.title === title)
  return wanted.length === 0 || (how === 'match_any' ? wanted.some(has) : wanted.every(has))
}

/** What is sent to the chat. */
export function messageOf({ name, properties }: Configured, trigger: string, built: object): object {
  const { style, body } = integrations[name]!.tells!
  const payload = built as Payload
  const told = trigger as ToldOf
  return body(
    { text: tellOf(told, payload, style), trigger: told, of: payload.project.path_with_namespace },
    properties,
  )
}
