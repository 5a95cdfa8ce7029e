import { endpoint, isAdministrator, project, userOf } from '../../access/index.ts'
import { planOf } from '../../kernel/config/index.ts'
import { Fields, Id, OneOf, Optional, Text, type Endpoint } from '../../kernel/endpoint/index.ts'
import { badRequest, forbidden } from '../../kernel/errors/index.ts'
import { admittingRules } from '../protected-environments/index.ts'
import * as store from './approvals-store.ts'
import { one } from './deployments-store.ts'
import { approval, Approval } from './entities.ts'
import type { EnvironmentServices } from './index.ts'

const longestComment = 255

export function approvalEndpoint({ db, process, externalUrl }: EnvironmentServices): Endpoint {
  return endpoint({
    method: 'POST',
    path: '/projects/:id/deployments/:deployment_id/approval',
    summary: 'Approve or reject a deployment that waits for it',
    description:
      'Once approved by all who have to, its job waits to be started; once rejected by one it has failed.',
    on: project,
    may: 'approve_deployment',
    plan: planOf.protected_environments,
    checks: ['params', 'credentials', 'subject', 'may', 'record'],
    record: true,
    params: Fields({
      deployment_id: Id(),
      status: OneOf(['approved', 'rejected'], {}),
      comment: Optional(Text({ maxLength: longestComment })),
      represented_as: Optional(Text({ description: 'Name of the user, group or role of a rule' })),
    }),
    answers: Approval,
    refuses: {
      400: 'The deployment waits for no approval',
      403: 'No rule asks the caller, or it is his own',
    },
    read: ({ params }) => one(params.deployment_id),
    async handle({ actor, project, params, rows }) {
      if ((params.comment?.length ?? 0) > longestComment) {
        throw badRequest(`comment is too long (maximum is ${longestComment} characters)`)
      }
      const deployment = rows[0]!
      const user = userOf(actor)
      const { rules, protected: isProtected } = await admittingRules(db.reader, deployment.id, user.id)
      if (!isProtected) throw badRequest('This environment is not protected.')
      if (rules.length === 0) throw forbidden()
      if (deployment.status !== 'blocked' || deployment.deployable === null) {
        throw badRequest('This deployment is not waiting for approvals.')
      }
      const ownToo = project.settings['allow_pipeline_trigger_approve_deployment'] === true
      if (deployment.user?.id === user.id && !ownToo && !isAdministrator(actor)) {
        throw forbidden('You cannot approve your own deployment.')
      }
      const as = params.represented_as
      const rule = as === undefined ? rules[0] : rules.find(({ name }) => name === as)
      if (rule === undefined) {
        throw badRequest('There are no approval rules for the given `represented_as` parameter.')
      }
      const { id: jobId, pipeline } = deployment.deployable
      const given = await db.transaction((tx) =>
        store.give(tx, {
          deploymentId: deployment.id,
          userId: user.id,
          entryId: rule.entry,
          status: params.status,
          comment: params.comment ?? null,
        }),
      )
      if (params.status === 'rejected') {
        await process.drop({ id: jobId, pipelineId: pipeline.id }, 'deployment_rejected', ['manual'])
      } else {
        await process.advance(pipeline.id)
      }
      return approval(given, externalUrl())
    },
  })
}
