import { sql } from 'kysely'
import { roles } from '../../../world/world.ts'
import { plain, type Scenario, type Scenarios, type Stage } from '../stage.ts'
import { idOf } from '../actors.ts'

const provider = 'ldapmain'

async function link(stage: Stage): Promise<string> {
  const cn = stage.unique('cn')
  await stage.make(`${stage.groupPath}/ldap_group_links`, { provider, cn, group_access: roles.developer })
  return cn
}

const newLink = (stage: Stage) => ({
  body: { provider, cn: stage.unique('cn'), group_access: roles.developer },
})

/** A member whom the directory keeps. */
async function kept(stage: Stage): Promise<{ path: { user_id: number } }> {
  const { id: user_id } = await stage.world.user()
  await stage.make(`${stage.groupPath}/members`, { user_id, access_level: roles.guest })
  await sql`
    update members set ldap = true where user_id = ${user_id} and namespace_id = ${idOf(stage.group)}`.execute(
    stage.world.service.services.db.writer,
  )
  return { path: { user_id } }
}

const byHand = (stage: Stage) => ({ path: { user_id: stage.cast.members.guest.id } })

const leftToAdministrators: Scenario = {
  async prepare(stage) {
    await stage.world.service.services.settings.change({ allow_group_owners_to_manage_ldap: false })
    return newLink(stage)
  },
  after: (stage) => stage.world.service.services.settings.change({ allow_group_owners_to_manage_ldap: true }),
}

/** Only the owner owns a group, whatever the others have made before. */
async function ownersAlone({ cast, world }: Stage): Promise<void> {
  const others = Object.values(cast.members).filter((person) => person !== cast.members.owner)
  const ids = [cast.stranger, ...others].map(({ id }) => id)
  await sql`
    delete from members where namespace_id is not null and access_level = ${roles.owner}
      and user_id = any (${ids}::bigint[])`.execute(world.service.services.db.writer)
}

const links = '/groups/:id/ldap_group_links'
const override = '/groups/:id/members/:user_id/override'

export const ldapScenarios: Scenarios = {
  [`GET ${links}`]: {
    'at least one link': (stage) => stage.once('link', async () => (await link(stage), {})),
    'no link': async (stage) => ({ stage: await stage.variant('no links', async () => undefined) }),
  },
  [`POST ${links}`]: { '': newLink, 'allow_group_owners_to_manage_ldap off': leftToAdministrators },
  [`DELETE ${links}`]: { 'link exists': async (stage) => ({ body: { provider, cn: await link(stage) } }) },
  [`DELETE ${links}/:cn`]: { 'link exists': async (stage) => ({ path: { cn: await link(stage) } }) },
  [`DELETE ${links}/:provider/:cn`]: {
    'link exists': async (stage) => ({ path: { provider, cn: await link(stage) } }),
  },
  'POST /groups/:id/ldap_sync': { '': plain },
  'GET /groups/:id/ldap_sync': { '': plain },
  'GET /groups/:id/ldap_sync/preview': { '': plain },
  [`POST ${override}`]: { 'row managed by LDAP': kept, 'row not managed by LDAP': byHand },
  [`DELETE ${override}`]: { 'row managed by LDAP': kept },
  [`PUT ${override}`]: { 'row managed by LDAP': kept },
  'GET /ldap/groups': {
    'the directory does not answer': async (stage) => {
      await ownersAlone(stage)
      return {}
    },
  },
  'GET /ldap/:provider/groups': {
    'the directory does not answer': async (stage) => {
      await ownersAlone(stage)
      return { path: { provider } }
    },
  },
}
