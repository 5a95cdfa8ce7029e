import { endpoint, instance } from '../../access/index.ts'
import { paidPlans } from '../../kernel/config/index.ts'
import {
  Fields,
  Flag,
  Json,
  ListOf,
  Nullable,
  OneOf,
  Text,
  type Endpoint,
} from '../../kernel/endpoint/index.ts'
import { companionsOf, isIncluded, sections, type SettingName } from '../../settings/index.ts'
import type { SettingAreaServices } from './index.ts'

const DescribedSetting = Fields({
  name: Text(),
  section: Text({ description: 'What it belongs to' }),
  about: Text({ description: 'What one sees when it is changed' }),
  schema: Json({ description: 'Its type and bounds, as JSON Schema' }),
  default: Json({ description: 'Null where it is a secret' }),
  plan: Nullable(OneOf(paidPlans, {})),
  included: Flag({ description: 'Whether it counts with the plan of this instance' }),
  secret: Flag({ description: 'Whether it is written only' }),
  recorded: Flag({ description: 'Whether it is for clients to read, with no effect here' }),
  companions: ListOf(Text(), {
    description: 'What has to be sent along when it is turned on, stored or not',
  }),
  needs: Nullable(Text({ description: 'What it would need to have an effect' })),
})

/** What settings there are, and what each does: for interfaces that let people change them. */
export function catalogueEndpoints({ plan: ours }: SettingAreaServices): Endpoint[] {
  const described = Object.entries(sections).flatMap(([section, settings]) =>
    Object.entries(settings).map(
      ([name, { about, schema, fallback, plan, secret, shown, recorded, needs }]) => ({
        name,
        section,
        about,
        schema,
        default: secret === true ? null : fallback,
        plan: plan ?? null,
        included: isIncluded(name as SettingName, ours),
        secret: secret === true && shown !== true,
        recorded: recorded === true,
        companions: [...companionsOf(name as SettingName)],
        needs: needs ?? null,
      }),
    ),
  )
  return [
    endpoint({
      method: 'GET',
      path: '/application/settings/catalogue',
      summary: 'List what settings there are, and what each does',
      on: instance,
      may: 'admin_instance',
      beforeTerms: true,
      answers: ListOf(DescribedSetting),
      handle: async () => described,
    }),
  ]
}
