import { may, endpoint, type Actor, type ProjectSubject } from '../../access/index.ts'
import { Fields, OneOf, Optional, Text, type Check, type Endpoint } from '../../kernel/endpoint/index.ts'
import { forbidden, notFound } from '../../kernel/errors/index.ts'
import {
  ScheduleVariable,
  scheduleVariable,
  secretContext,
  type ScheduleRow,
  type VariableRow,
} from './entities.ts'
import type { ScheduleServices } from './index.ts'
import { oneSchedule, scheduleId } from './routes.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'

const checks: readonly Check[] = ['credentials', 'params', 'subject', 'may', 'record']
const types = ['env_var', 'file'] as const

/** Variables that a schedule gives to its pipelines. */
export function variableEndpoints({ db, cipher }: ScheduleServices): Endpoint[] {
  const seal = (value: string) => cipher.seal(value, secretContext)
  const requireRight = (actor: Actor, project: ProjectSubject, row: ScheduleRow): void => {
    rules.requireOwner(actor, row)
    if (!may(actor, 'set_pipeline_variables', project)) {
      throw forbidden('The current user is not authorized to set pipeline schedule variables')
    }
  }
  const named = (row: ScheduleRow, key: string): VariableRow => {
    const found = row.variables.find((variable) => variable.key === key)
    if (found === undefined) throw notFound('Pipeline Schedule Variable')
    return found
  }
  const about = {
    ...oneSchedule,
    may: 'create_pipeline_schedule',
    checks,
    answers: ScheduleVariable,
  } as const

  return [
    endpoint({
      ...about,
      method: 'POST',
      path: '/projects/:id/pipeline_schedules/:pipeline_schedule_id/variables',
      summary: 'Create a variable of a pipeline schedule',
      params: Fields({
        ...scheduleId,
        key: Text(),
        value: Text(),
        variable_type: OneOf(types, { default: 'env_var' }),
      }),
      async handle({ actor, project, params, rows }) {
        const row = rows[0]!
        requireRight(actor, project, row)
        rules.checkKey(params.key)
        const { key, value, variable_type } = params
        const variable = { key, secret: seal(value), variable_type, raw: false }
        await store.addVariable(db.writer, row.id, variable)
        return scheduleVariable(variable, cipher)
      },
    }),

    endpoint({
      ...about,
      method: 'PUT',
      path: '/projects/:id/pipeline_schedules/:pipeline_schedule_id/variables/:key',
      summary: 'Change a variable of a pipeline schedule',
      params: Fields({
        ...scheduleId,
        key: Text(),
        value: Optional(Text()),
        variable_type: Optional(OneOf(types, {})),
      }),
      async handle({ actor, project, params, rows }) {
        const row = rows[0]!
        requireRight(actor, project, row)
        const before = named(row, params.key)
        const variable = {
          ...before,
          ...(params.value !== undefined && { secret: seal(params.value) }),
          variable_type: params.variable_type ?? before.variable_type,
        }
        await store.changeVariable(db.writer, row.id, variable)
        return scheduleVariable(variable, cipher)
      },
    }),

    endpoint({
      ...about,
      method: 'DELETE',
      path: '/projects/:id/pipeline_schedules/:pipeline_schedule_id/variables/:key',
      summary: 'Delete a variable of a pipeline schedule',
      status: 202,
      params: Fields({ ...scheduleId, key: Text() }),
      async handle({ actor, project, params, rows }) {
        const row = rows[0]!
        requireRight(actor, project, row)
        const variable = named(row, params.key)
        await store.removeVariable(db.writer, row.id, params.key)
        return scheduleVariable(variable, cipher)
      },
    }),
  ]
}
