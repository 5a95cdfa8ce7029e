import type { ProjectSubject } from '../../access/index.ts'
import { listRefs, parseOid, parseRefName, zeroOid, type Oid, type RefUpdate } from '../../git/index.ts'
import { sql, type Database, type Tx } from '../../kernel/db/index.ts'
import { enqueue, type Task } from '../../tasks/index.ts'
import {
  placedProject,
  type PlacedProject,
  type RefDoor,
  type RepositoryPlaces,
} from '../repository/index.ts'

/** Of one environment: what was deployed last can be fetched, and repositories do not fill up. */
const mostKept = 100

const write = 'environments:write-ref'
const remove = 'environments:remove-refs'

interface RefServices {
  readonly db: Database
  readonly places: RepositoryPlaces
  readonly door: RefDoor<ProjectSubject>
}

interface Removal {
  readonly project: number
  readonly slug: string
  /** Of one deployment; left out: of the whole environment. */
  readonly iid?: number
}

/** A deployment that went well gets a ref, by which its commit stays and can be fetched; nobody pushes it. */
export async function keepCommit(tx: Tx, deploymentId: number): Promise<void> {
  await enqueue(tx, write, { deployment: deploymentId })
}

export async function removeRefs(tx: Tx, removal: Removal): Promise<void> {
  await enqueue(tx, remove, removal)
}

export function deploymentRefTasks(services: RefServices): Task[] {
  return [
    {
      name: write,
      run: (payload) => writeRef(services, (payload as { deployment: number }).deployment),
    },
    { name: remove, run: (payload) => takeAway(services, payload as Removal) },
  ]
}

async function writeRef(services: RefServices, id: number): Promise<void> {
  const { rows } = await sql<Place & { iid: number; sha: string; slug: string }>`
    select d.iid, d.sha, e.slug, ${place} from deployments d join environments e on e.id = d.environment_id
      join projects pr on pr.id = d.project_id
    where d.id = ${id} and d.status = 'success'`.execute(services.db.writer)
  const [row] = rows
  if (row === undefined) return
  requireStill(row)
  const sha = parseOid(row.sha)
  const ref = parseRefName(`${folderOf(row.slug)}${row.iid}`)
  if (sha === undefined || ref === undefined) return
  const kept = await refsBelow(services, row, folderOf(row.slug))
  // Where it cannot be written the commit is gone, and there is nothing to keep.
  if (kept.every(({ name }) => name !== ref))
    await services.door.moveInternal(row.project, [{ ref, oldOid: zeroOid, newOid: sha }])
  await removeAll(services, row, kept.toSorted((one, other) => other.iid - one.iid).slice(mostKept - 1))
}

async function takeAway(services: RefServices, { project, slug, iid }: Removal): Promise<void> {
  const { rows } = await sql<Place>`select ${place} from projects pr where pr.id = ${project}`.execute(
    services.db.writer,
  )
  const [row] = rows
  if (row === undefined) return
  requireStill(row)
  const refs = await refsBelow(services, row, folderOf(slug))
  await removeAll(services, row, iid === undefined ? refs : refs.filter((ref) => ref.iid === iid))
}

interface DeploymentRef {
  readonly name: RefUpdate['ref']
  readonly oid: Oid
  readonly iid: number
}

async function refsBelow({ places }: RefServices, row: Place, folder: string): Promise<DeploymentRef[]> {
  const { refs } = await listRefs(places.of(row.project), row.refs_version)
  return refs
    .filter(({ name }) => name.startsWith(folder))
    .map(({ name, oid }) => ({ name, oid, iid: Number(name.slice(folder.length)) }))
}

async function removeAll(
  { door }: RefServices,
  { project }: Place,
  refs: readonly DeploymentRef[],
): Promise<void> {
  await door.moveInternal(
    project,
    refs.map(({ name, oid }) => ({ ref: name, oldOid: oid, newOid: zeroOid })),
  )
}

function folderOf(slug: string): string {
  return `refs/environments/${slug}/deployments/`
}

/** The task is done again later. */
function requireStill({ moving }: Place): void {
  if (moving) throw new Error('the repository is being moved')
}

interface Place {
  readonly project: PlacedProject
  readonly refs_version: number
  readonly moving: boolean
}

const place = sql`
  ${placedProject} as project, pr.refs_version, coalesce(pr.moving_until > now(), false) as moving`
