import { plain, type Prepare, type Scenarios } from '../stage.ts'

const path = '/projects/:id/pages'
const domains = `${path}/domains`

const made: Prepare = async (stage) => {
  const { domain } = await stage.make(`${stage.projectPath}/pages/domains`, {
    domain: `${stage.unique('site')}.example`,
  })
  return { path: { domain: domain as string } }
}

export const siteScenarios: Scenarios = {
  [`GET ${path}`]: { '': plain },
  [`PATCH ${path}`]: { '': () => ({ body: { pages_https_only: true } }) },
  [`DELETE ${path}`]: { '': plain },
  'GET /pages/domains': { '': plain },
  [`GET ${domains}`]: { '': plain },
  [`GET ${domains}/:domain`]: { '': made },
  [`POST ${domains}`]: { '': (stage) => ({ body: { domain: `${stage.unique('site')}.example` } }) },
  [`PUT ${domains}/:domain`]: { '': async (...about) => ({ ...(await made(...about)), body: { key: '' } }) },
  [`PUT ${domains}/:domain/verify`]: { 'no record has the code': made },
  [`DELETE ${domains}/:domain`]: { '': made },
}
