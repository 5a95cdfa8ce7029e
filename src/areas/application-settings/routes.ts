import { endpoint, instance, userOf } from '../../access/index.ts'
import {
  Either,
  Fields,
  Flag,
  Json,
  Lasting,
  Optional,
  Unchecked,
  type Endpoint,
} from '../../kernel/endpoint/index.ts'
import { invalid } from '../../kernel/errors/index.ts'
import { approveWaiting } from '../users/index.ts'
import { acceptedNames, catalogue, isSettingName, type Setting } from '../../settings/index.ts'
import { ApplicationSettings, applicationSettings, ForeseenChange, foreseenChange } from './entities.ts'
import type { SettingAreaServices } from './index.ts'
import * as store from './store.ts'

const path = '/application/settings'

/** In the document only: settings have two forms of refusals, and rules of their own for null. */
const settingParams = Object.fromEntries(
  acceptedNames.map((name) => [
    name,
    Optional(Unchecked(isSettingName(name) ? described(catalogue[name] as Setting) : Json())),
  ]),
)

function described({ schema, about }: Setting) {
  return { ...schema, description: about }
}

export function settingEndpoints(services: SettingAreaServices): Endpoint[] {
  const { db, settings, contextOf } = services
  const entityOf = ({ stored, ...times }: store.StoredRecord) =>
    applicationSettings(settings.of(stored), times, services)
  /** What was answered last, which stands until there is another revision. */
  let last: { readonly revision: number; readonly answer: Lasting } | undefined

  return [
    endpoint({
      method: 'GET',
      path,
      summary: 'Get the settings of the instance',
      on: instance,
      may: 'admin_instance',
      beforeTerms: true,
      answers: ApplicationSettings,
      read: () => store.readRecord(last?.revision),
      async handle({ rows: [record] }) {
        const { revision, stored, ...times } = record!
        if (stored !== null && (last === undefined || last.revision < revision)) {
          last = { revision, answer: new Lasting(entityOf({ revision, stored, ...times })) }
        }
        return last!.answer
      },
    }),

    endpoint({
      method: 'PUT',
      path,
      summary: 'Change settings of the instance',
      description:
        'Only what is sent changes, all of it or nothing. What the plan does not include, and what is not known, is ignored.',
      on: instance,
      may: 'admin_instance',
      beforeTerms: true,
      params: Fields({
        ...settingParams,
        auto_approve_pending_users: Optional(
          Flag({ description: 'Lets in who waits for approval, when the change ends that it is needed' }),
        ),
        dry_run: Optional(Flag({ description: 'Checks everything and answers what would change' })),
      }),
      answers: Either(ForeseenChange, ApplicationSettings),
      async handle({ actor, params, request }) {
        const changes = await settings.update(await withGroup(request.sent), {
          userId: userOf(actor).id,
          context: contextOf(actor),
          dryRun: params.dry_run === true,
        })
        if (params.dry_run === true) return foreseenChange(changes)
        const isOpen = changes.some(
          ({ name, after }) => name === 'require_admin_approval_after_user_signup' && after === false,
        )
        if (isOpen && params.auto_approve_pending_users === true) await db.transaction(approveWaiting)
        return entityOf(await store.findRecord(db.reader))
      },
    }),
  ]

  /** The group of the performance bar is sent by its path or its id, and kept by its id. */
  async function withGroup(
    sent: Readonly<Record<string, unknown>>,
  ): Promise<Readonly<Record<string, unknown>>> {
    const names = ['performance_bar_allowed_group_path', 'performance_bar_allowed_group_id']
    const name = names.find((one) => sent[one] !== undefined)
    const given = name === undefined ? undefined : sent[name]
    if (name === undefined || given === '' || (typeof given !== 'string' && typeof given !== 'number')) {
      return sent
    }
    const id = await store.findGroupId(db.reader, String(given))
    if (id === undefined) throw invalid({ performance_bar_allowed_group_id: ['not found'] })
    return { ...sent, [name]: id }
  }
}
