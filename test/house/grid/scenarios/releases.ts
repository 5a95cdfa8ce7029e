import { idOf } from '../actors.ts'
import { ciStage } from '../ci.ts'
import { plain, type Prepare, type Request, type Scenarios, type Stage } from '../stage.ts'

interface Made {
  readonly own: Stage
  readonly tag_name: string
  readonly link_id: number
  readonly evidence_id: number
}

/** A release with a link, in a project with commits. */
async function make(stage: Stage): Promise<Made> {
  const own = await ciStage(stage)
  const tag_name = own.unique('v')
  const links = [{ name: 'a', url: 'https://example.com/a', direct_asset_path: '/a' }]
  const made = await own.make(`${own.projectPath}/releases`, { tag_name, ref: 'main', assets: { links } })
  const [link] = (made['assets'] as { links: { id: number }[] }).links
  const [evidence] = made['evidences'] as { filepath: string }[]
  return { own, tag_name, link_id: idOf(link!), evidence_id: Number(evidence!.filepath.split('/').at(-1)) }
}

const request = ({ own, tag_name, link_id, evidence_id }: Made, body?: unknown): Request => ({
  path: { tag_name, link_id, evidence_id, '*': 'a' },
  stage: own,
  ...(body !== undefined && { body }),
})

const read: Prepare = async (stage) => request(await stage.once('release', () => make(stage)))
const change =
  (body?: unknown): Prepare =>
  async (stage) =>
    request(await make(stage), body)

export const releaseScenarios: Scenarios = {
  'GET /groups/:id/releases': { '': plain },
  'GET /projects/:id/releases': { 'no code parts needed': plain },
  'GET /projects/:id/releases/:tag_name': { '': read },
  'GET /projects/:id/releases/permalink/latest': { '': read },
  'GET /projects/:id/releases/permalink/latest/*': { '': read },
  'GET /projects/:id/releases/:tag_name/downloads/*': { '': read },
  'GET /projects/:id/releases/:tag_name/evidences/:evidence_id': { '': read },
  'POST /projects/:id/releases/:tag_name/evidence': { '': change() },
  'GET /projects/:id/releases/:tag_name/assets/links': { '': read },
  'GET /projects/:id/releases/:tag_name/assets/links/:link_id': { '': read },
  'POST /projects/:id/releases': {
    'unprotected tag': async (stage) => {
      const own = await ciStage(stage)
      return { body: { tag_name: own.unique('v'), ref: 'main' }, stage: own }
    },
  },
  'PUT /projects/:id/releases/:tag_name': { '': change({ name: 'n' }) },
  'DELETE /projects/:id/releases/:tag_name': { '': change() },
  'POST /projects/:id/releases/:tag_name/assets/links': {
    '': change({ name: 'b', url: 'https://example.com/b' }),
  },
  'PUT /projects/:id/releases/:tag_name/assets/links/:link_id': { '': change({ name: 'c' }) },
  'DELETE /projects/:id/releases/:tag_name/assets/links/:link_id': { '': change() },
}
