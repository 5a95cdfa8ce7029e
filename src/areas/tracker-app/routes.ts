import { endpoint, instance } from '../../access/index.ts'
import { Fields, Flag, Text, type Endpoint } from '../../kernel/endpoint/index.ts'
import { unauthorized } from '../../kernel/errors/index.ts'
import { linkGroup } from './linking.ts'
import { readTracker, type TokenServices } from './tokens.ts'

export function trackerEndpoints(services: TokenServices): Endpoint[] {
  return [
    endpoint({
      on: instance,
      may: 'read_instance',
      method: 'POST',
      path: '/integrations/jira_connect/subscriptions',
      summary: 'Tell an issue tracker with our app of the projects of a group',
      description: 'The caller maintains the group, and administers the tracker.',
      params: Fields({
        jwt: Text({ description: 'The token by which the tracker says who the caller is there' }),
        namespace_path: Text({ description: 'Full path of the group' }),
      }),
      answers: Fields({ success: Flag() }),
      refuses: {
        401: 'The token of the tracker is no good',
        403: 'The caller may not link the group, or is no administrator of the tracker',
        404: 'There is no such group',
      },
      async handle({ actor, params }) {
        const tracker = await readTracker(services, params.jwt)
        if (tracker === undefined) throw unauthorized()
        await linkGroup(services, actor, tracker, params.namespace_path)
        return { success: true }
      },
    }),
  ]
}
