import type { RawBuilder } from 'kysely'
import { onConstraint, sql, type Reader, type Tx, type Writer } from '../../kernel/db/index.ts'
import { notFound } from '../../kernel/errors/index.ts'
import { appIntegration } from '../webhooks/index.ts'

/** Somebody of a chat. */
export interface ChatPerson {
  readonly teamId: string
  readonly chatId: string
  /** Of the project whose slash commands vouch for him; null: the chat app does. */
  readonly projectId: number | null
}

const is = ({ teamId, chatId, projectId }: ChatPerson): RawBuilder<boolean> => sql<boolean>`
  c.team_id = ${teamId} and c.chat_id = ${chatId} and coalesce(c.project_id, 0) = ${projectId ?? 0}`

/** Who of ours he is; undefined where he has not said so. */
export async function userOf(db: Reader, person: ChatPerson): Promise<number | undefined> {
  const { rows } = await sql<{ user_id: number }>`
    select c.user_id from chat_names c where ${is(person)}`.execute(db)
  return rows[0]?.user_id
}

export interface NewChatName extends ChatPerson {
  readonly userId: number
  readonly teamDomain: string | null
  readonly chatName: string | null
}

/** Whoever he was before. */
export async function linkUser(tx: Tx, name: NewChatName): Promise<void> {
  await sql`
    insert into chat_names as c (user_id, team_id, chat_id, project_id, team_domain, chat_name)
    values (${name.userId}, ${name.teamId}, ${name.chatId}, ${name.projectId}, ${name.teamDomain}, ${name.chatName})
    on conflict (team_id, chat_id, coalesce(project_id, 0)) do update
    set user_id = excluded.user_id, team_domain = excluded.team_domain, chat_name = excluded.chat_name,
      created_at = now()`
    .execute(tx)
    .catch(onConstraint('chat_names_project_id_fkey', () => notFound('Project')))
}

export interface ChatNameRow {
  readonly id: number
  readonly team_domain: string | null
  readonly chat_name: string | null
  readonly team_id: string
  readonly chat_id: string
  readonly project: string | null
}

export async function namesOf(db: Reader, userId: number): Promise<ChatNameRow[]> {
  const { rows } = await sql<ChatNameRow>`
    select c.id, c.team_domain, c.chat_name, c.team_id, c.chat_id, p.full_path as project
    from chat_names c left join projects p on p.id = c.project_id
    where c.user_id = ${userId} order by c.id limit 100`.execute(db)
  return rows
}

/** What a project is called, where it still is there. */
export async function pathOf(db: Reader, projectId: number): Promise<string | undefined> {
  const { rows } = await sql<{ full_path: string }>`
    select p.full_path from projects p where p.id = ${projectId}`.execute(db)
  return rows[0]?.full_path
}

export async function unlink(tx: Tx, userId: number, id: number): Promise<void> {
  await sql`delete from chat_names c where c.id = ${id} and c.user_id = ${userId}`.execute(tx)
}

export interface Workspace {
  readonly teamId: string
  readonly name: string
  readonly botUserId: string | null
  /** Sealed. */
  readonly token: string
  readonly scopes: readonly string[]
}

/** The app is in this workspace, with another token where it was already. */
export async function saveWorkspace(tx: Tx, space: Workspace): Promise<void> {
  await sql`
    insert into chat_workspaces (team_id, name, bot_user_id, token, scopes)
    values (${space.teamId}, ${space.name}, ${space.botUserId}, ${space.token}, ${[...space.scopes]}::text[])
    on conflict (team_id) do update
    set name = excluded.name, bot_user_id = excluded.bot_user_id, token = excluded.token, scopes = excluded.scopes,
      updated_at = now()`.execute(tx)
}

export async function install(tx: Tx, webhookId: number, teamId: string): Promise<void> {
  await sql`
    insert into chat_installations (webhook_id, team_id) values (${webhookId}, ${teamId})
    on conflict (webhook_id) do update set team_id = excluded.team_id`.execute(tx)
}

/** The project of this path, if the app of the workspace is installed there. */
export async function installedAt(db: Reader, teamId: string, fullPath: string): Promise<number | undefined> {
  const { rows } = await sql<{ project_id: number }>`
    select w.project_id from routes r
    join webhooks w on w.project_id = r.project_id and w.active and w.integration = ${appIntegration}
    join chat_installations i on i.webhook_id = w.id
    where r.path_key = ${fullPath.toLowerCase()} and i.team_id = ${teamId}`.execute(db)
  return rows[0]?.project_id
}

/** The sealed token of the app in the workspace that a project's integration is for. */
export async function tokenOf(db: Reader, webhookId: number): Promise<string | undefined> {
  const { rows } = await sql<{ token: string }>`
    select s.token from chat_installations i join chat_workspaces s on s.team_id = i.team_id
    where i.webhook_id = ${webhookId}`.execute(db)
  return rows[0]?.token
}

/** The slash commands of a project, named by its id or path: their sealed properties. */
export async function slashCommandsOf(
  db: Reader,
  project: string,
  integration: string,
): Promise<{ readonly projectId: number; readonly properties: string } | undefined> {
  const id = /^\d{1,15}$/.test(project)
    ? sql`${Number(project)}::bigint`
    : sql`(select r.project_id from routes r where r.path_key = ${project.toLowerCase()})`
  const { rows } = await sql<{ projectId: number; properties: string }>`
    select w.project_id as "projectId", w.properties from webhooks w
    where w.project_id = ${id} and w.active and w.integration = ${integration}`.execute(db)
  return rows[0]
}

/** The jobs of a pipeline that wait for somebody to start them, and then deploy to an environment. */
export async function manualDeployments(
  db: Reader,
  {
    projectId,
    pipelineId,
    to,
  }: { readonly projectId: number; readonly pipelineId: number; readonly to: string },
): Promise<{ readonly id: number; readonly name: string }[]> {
  const { rows } = await sql<{ id: number; name: string }>`
    select j.id, j.name from ci_jobs j
    where j.project_id = ${projectId} and j.pipeline_id = ${pipelineId} and j.status = 'manual' and not j.retried
      and j.definition -> 'environment' ->> 'expandedName' = ${to}
      and j.definition -> 'environment' ->> 'action' = 'start' order by j.id limit 100`.execute(db)
  return rows
}

/** `url`, sealed: where to say what became of the pipeline. */
export async function expectPipeline(db: Writer, pipelineId: number, url: string): Promise<void> {
  await sql`
    insert into chat_pipelines (pipeline_id, response_url) values (${pipelineId}, ${url})
    on conflict do nothing`.execute(db)
}

/** A condition on the row `event` of jobs: somebody in a chat waits for them. */
export const isExpected = sql`exists (
  select from chat_pipelines c where c.pipeline_id = (event.payload ->> 'pipelineId')::bigint)`

/** Where to tell of a job that has ended. */
export async function expectedJob(
  db: Reader,
  pipelineId: number,
): Promise<
  | {
      readonly id: number
      readonly name: string
      readonly status: string
      readonly response_url: string
      readonly full_path: string
    }
  | undefined
> {
  const { rows } = await sql<{
    id: number
    name: string
    status: string
    response_url: string
    full_path: string
  }>`
    select j.id, j.name, j.status, c.response_url, p.full_path
    from chat_pipelines c join ci_jobs j on j.pipeline_id = c.pipeline_id join projects p on p.id = j.project_id
    where c.pipeline_id = ${pipelineId} and j.status in ('success', 'failed', 'canceled') and not j.retried
    order by j.id desc limit 1`.execute(db)
  return rows[0]
}

/** Nobody waits for it any more. */
export async function forgetPipeline(db: Writer, pipelineId: number): Promise<void> {
  await sql`delete from chat_pipelines c where c.pipeline_id = ${pipelineId}`.execute(db)
}
