import { enterAs, inNameOf, project as projects, type ProjectSubject } from '../../../access/index.ts'
import type { Database } from '../../../kernel/db/index.ts'
import type { InnerApi, InnerReply, Method } from '../../../kernel/endpoint/index.ts'
import type { PipelineCreator } from '../../pipelines/index.ts'
import type { Style } from '../../webhooks/index.ts'
import * as store from '../store.ts'
import { usages, type Command } from './parse.ts'
import { linesOf, linkOf, ofIssue, toAll, toOne, type Said, type ShownIssue } from './said.ts'

export interface CommandServices {
  readonly db: Database
  readonly api: InnerApi
  readonly creator: PipelineCreator
  readonly externalUrl: () => string
}

/** One command that somebody gave in a chat, who is known to us. */
export interface Asked {
  readonly userId: number
  readonly projectId: number
  /** Address of the chat. */
  readonly ip: string
  readonly style: Style
  /** How the command is called in the chat, with the place where there may be several. */
  readonly called: string
  /** For what a job is told of the chat. */
  readonly chat: { readonly channel: string; readonly userId: string }
  /** Notes where to say later what became of a pipeline. */
  readonly expect: (pipelineId: number) => Promise<void>
}

const mostFound = 5

export function help({ called, style }: Pick<Asked, 'called' | 'style'>): Said {
  return toOne(
    [
      'The following commands are available:',
      ...usages.map((usage) => style.plain(`${called} ${usage}`)),
    ].join('\n'),
  )
}

/** Does what a command says by calls of the API in the name of its user: what he may not do there he may not do here. */
export async function runCommand(services: CommandServices, asked: Asked, command: Command): Promise<Said> {
  const run = new Run(services, asked)
  // Where the project is not his to see nothing is said of it.
  if (command.name !== 'help' && (await run.call('GET', '')).status !== 200)
    return toOne('There is no such project, or you may not see it.')
  switch (command.name) {
    case 'help':
      return help(asked)
    case 'issue new':
      return run.newIssue(command.title, command.description)
    case 'issue show':
      return run.withIssue(command.iid, (issue) => ofIssue(issue, linesOf(issue, asked.style)))
    case 'issue close':
      return run.withIssue(command.iid, (issue) => run.closeIssue(issue))
    case 'issue search':
      return run.search(command.query)
    case 'issue move':
      return run.withIssue(command.iid, (issue) => run.move(issue, command.to))
    case 'issue comment':
      return run.withIssue(command.iid, (issue) => run.comment(issue, command.body))
    case 'deploy':
      return run.deploy(command.from, command.to)
    case 'run':
      return run.job(command.job, command.input)
  }
}

class Run {
  readonly #services: CommandServices
  readonly #asked: Asked

  constructor(services: CommandServices, asked: Asked) {
    this.#services = services
    this.#asked = asked
  }

  /** `path` below the project. */
  call(method: Method, path: string, body?: object): Promise<InnerReply> {
    return this.#callAnywhere(method, `/projects/${this.#asked.projectId}${path}`, body)
  }

  async newIssue(title: string, description: string): Promise<Said> {
    const reply = await this.call('POST', '/issues', { title, description })
    if (reply.status !== 201) return this.#refused(reply)
    const issue = reply.body as ShownIssue
    return ofIssue(issue, `Created issue ${linkOf(issue, this.#asked.style)}`)
  }

  async withIssue(iid: number, work: (issue: ShownIssue) => Said | Promise<Said>): Promise<Said> {
    const reply = await this.call('GET', `/issues/${iid}`)
    return reply.status === 200 ? work(reply.body as ShownIssue) : toOne(`There is no issue #${iid}.`)
  }

  async closeIssue(issue: ShownIssue): Promise<Said> {
    const link = linkOf(issue, this.#asked.style)
    if (issue.state === 'closed') return toOne(`Issue ${link} is closed already.`)
    const reply = await this.call('PUT', `/issues/${issue.iid}`, { state_event: 'close' })
    return reply.status === 200 ? ofIssue(issue, `Closed issue ${link}`) : this.#refused(reply)
  }

  async search(query: string): Promise<Said> {
    const asked = new URLSearchParams({ search: query, per_page: String(mostFound) })
    const reply = await this.call('GET', `/issues?${asked.toString()}`)
    if (reply.status !== 200) return this.#refused(reply)
    const found = reply.body as readonly ShownIssue[]
    const { style } = this.#asked
    if (found.length === 0) return toOne(`No issue matches "${style.plain(query)}".`)
    return toOne(
      [
        `Issues that match "${style.plain(query)}":`,
        ...found.map(
          (issue) => `${linkOf(issue, style)} (${issue.state === 'opened' ? 'open' : issue.state})`,
        ),
      ].join('\n'),
    )
  }

  async move(issue: ShownIssue, to: string): Promise<Said> {
    const target = await this.#callAnywhere('GET', `/projects/${encodeURIComponent(to)}`)
    if (target.status !== 200) return toOne('There is no such project to move it to, or you may not see it.')
    const { id, path_with_namespace: fullPath } = target.body as { id: number; path_with_namespace: string }
    const reply = await this.call('POST', `/issues/${issue.iid}/move`, { to_project_id: id })
    if (reply.status !== 201) return this.#refused(reply)
    const { style } = this.#asked
    const moved = linkOf(reply.body as ShownIssue, style)
    return ofIssue(issue, `Moved issue #${issue.iid} to ${style.plain(fullPath)}: ${moved}`)
  }

  async comment(issue: ShownIssue, body: string): Promise<Said> {
    const reply = await this.call('POST', `/issues/${issue.iid}/notes`, { body })
    // Of a text of nothing but commands there is no note.
    return reply.status === 201 || reply.status === 202
      ? ofIssue(issue, `Commented on issue ${linkOf(issue, this.#asked.style)}`)
      : this.#refused(reply)
  }

  /** Starts the manual job that deploys to `to` in the pipeline that was last deployed to `from`. */
  async deploy(from: string, to: string): Promise<Said> {
    const query = new URLSearchParams({ environment: from, status: 'success', sort: 'desc', per_page: '1' })
    const reply = await this.call('GET', `/deployments?${query.toString()}`)
    if (reply.status !== 200) return this.#refused(reply)
    const [last] = reply.body as readonly { deployable: { pipeline?: { id: number } } | null }[]
    const pipelineId = last?.deployable?.pipeline?.id
    const { projectId, style } = this.#asked
    const none = toOne(`There is no job that deploys from ${style.plain(from)} to ${style.plain(to)}.`)
    if (pipelineId === undefined) return none
    const jobs = await store.manualDeployments(this.#services.db.reader, { projectId, pipelineId, to })
    const chosen = jobs.length === 1 ? jobs[0] : jobs.find(({ name }) => name === to)
    if (chosen === undefined) {
      return jobs.length === 0
        ? none
        : toOne(`Several jobs deploy to ${style.plain(to)}, and none has the name of the environment.`)
    }
    const played = await this.call('POST', `/jobs/${chosen.id}/play`)
    if (played.status !== 200) return this.#refused(played)
    const { web_url: url } = played.body as { web_url: string }
    return toAll(
      `Deployment from ${style.plain(from)} to ${style.plain(to)} has started: ${style.link(url, style.plain(chosen.name))}`,
    )
  }

  /** Makes a pipeline of the one job; what it says comes later. */
  async job(name: string, input: string): Promise<Said> {
    const { db, creator, externalUrl } = this.#services
    const { userId, projectId, chat, style, expect } = this.#asked
    const found = await enterAs<ProjectSubject>(db, projects, userId, projectId)
    const branch = found?.subject.defaultBranch ?? null
    if (found === undefined || branch === null) return toOne('The project has no branch to run it on.')
    const { subject: project, actor } = found
    const variables = { CHAT_INPUT: input, CHAT_CHANNEL: chat.channel, CHAT_USER_ID: chat.userId }
    const made = await creator.createOnRef({
      project,
      actor,
      source: 'chat',
      ref: branch,
      onlyJob: name,
      vettedVariables: true,
      variables: Object.entries(variables).map(([key, value]) => ({
        key,
        value,
        variable_type: 'env_var',
        raw: true,
      })),
    })
    if (!('id' in made)) {
      return toOne(
        made.nothing === true || made.refused === null
          ? `There is no job ${style.plain(name)} that a chat may run.`
          : style.plain(made.refused),
      )
    }
    await expect(made.id)
    const url = `${externalUrl()}/${project.fullPath}/-/pipelines/${made.id}`
    return toOne(`${style.plain(name)} was started in pipeline ${style.link(url, `#${made.id}`)}.`)
  }

  #callAnywhere(method: Method, path: string, body?: object): Promise<InnerReply> {
    const { userId, ip } = this.#asked
    return inNameOf(userId, () => this.#services.api.call({ headers: {}, ip }, method, path, body))
  }

  #refused({ status, body }: InnerReply): Said {
    return toOne(this.#asked.style.plain(`That was refused: ${reasonOf(body) ?? status}`))
  }
}

/** Why the API refused a call, in its words. */
function reasonOf(body: unknown): string | undefined {
  const { message, error } = (body ?? {}) as { message?: unknown; error?: unknown }
  const said = message ?? error
  return said === undefined ? undefined : typeof said === 'string' ? said : JSON.stringify(said)
}
