import type { FastifyReply, FastifyRequest } from 'fastify'
import {
  decide,
  enter,
  pageCredentials,
  project as projects,
  type ProjectSubject,
} from '../../access/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import { digestToken, isSameSecret, type Cipher } from '../../kernel/lib/secrets.ts'
import { nameRequest } from '../../kernel/log/index.ts'
import { html, sendFormPage } from '../../kernel/pages/index.ts'
import type { Settings } from '../../settings/index.ts'
import type { Neighbour } from '../git-http/index.ts'
import { problemPage, visitorOf, type SignedInVisitor } from '../oauth/index.ts'
import { activateApp, appIntegration, isIntegrationAllowed } from '../webhooks/index.ts'
import type { ChatPlatform } from './platform.ts'
import { tokenContext } from './saying.ts'
import * as store from './store.ts'

export interface InstallServices {
  readonly db: Database
  readonly cipher: Cipher
  readonly settings: Settings
  readonly externalUrl: () => string
  readonly chatPlatform: ChatPlatform
}

/** What the app may do in a workspace. */
const scopes = 'commands,chat:write,chat:write.public'
const longest = 4096
const address =
  /^\/((?:[\p{L}\p{N}_.-]+\/)+[\p{L}\p{N}_.-]+)\/-\/settings\/(integrations\/gitlab_slack_application\/edit|slack\/slack_auth)$/u

/** Installs the app in a workspace for a project: `/group/project/-/settings/integrations/gitlab_slack_application/edit`. */
export function installNeighbour(services: InstallServices): Neighbour {
  return (method, path) => {
    const [, fullPath, page] = (path.length <= longest && address.exec(path)) || []
    if (method !== 'GET' || fullPath === undefined) return undefined
    return async (request: FastifyRequest, reply: FastifyReply) => {
      nameRequest('install the chat app')
      const root = '../'.repeat(path.split('/').length - 2).slice(0, -1)
      const entered = await enterPage(services, request, reply, { fullPath, root })
      if (entered === undefined) return reply
      return page === 'slack/slack_auth'
        ? finish(services, request, reply, { ...entered, root })
        : begin(services, reply, { ...entered, root })
    }
  }
}

interface Entered {
  readonly project: ProjectSubject
  readonly visitor: SignedInVisitor
  readonly root: string
}

/** Who asks and for which project, if he may install it there; undefined when that is answered already. */
async function enterPage(
  services: InstallServices,
  request: FastifyRequest,
  reply: FastifyReply,
  { fullPath, root }: { readonly fullPath: string; readonly root: string },
): Promise<Omit<Entered, 'root'> | undefined> {
  const { db, settings, externalUrl } = services
  const visitor = await visitorOf(services, request)
  if (visitor === undefined) {
    const back = encodeURIComponent(request.url)
    void reply.redirect(`${externalUrl()}/users/sign_in?return_to=${back}`, 302)
    return undefined
  }
  if (typeof visitor === 'string') {
    void problemPage(reply, 403, root, visitor)
    return undefined
  }
  const lookup = { id: fullPath, secretDigest: undefined }
  const credentials = pageCredentials(request.headers, settings.values)
  const { actor, subject, visible } = await enter<ProjectSubject>(db, projects, credentials, lookup)
  const may =
    actor !== undefined &&
    subject !== undefined &&
    visible &&
    decide(actor, 'admin_integrations', subject, true).allowed
  if (may && isIntegrationAllowed(settings, appIntegration)) return { project: subject, visitor }
  void problemPage(reply, 404, root, 'There is no such page, or it is not for you.')
  return undefined
}

/** By which it is known that an answer belongs to a question that this session asked for this project. */
function stateOf({ project, visitor }: Entered): string {
  return digestToken(`chat app ${project.id} ${visitor.csrfToken}`)
}

const redirectUri = ({ externalUrl }: InstallServices, { fullPath }: ProjectSubject): string =>
  `${externalUrl()}/${fullPath}/-/settings/slack/slack_auth`

function begin(services: InstallServices, reply: FastifyReply, entered: Entered): FastifyReply {
  const { chatPlatform, settings } = services
  const { project, root } = entered
  const consent = chatPlatform.consentAddress({
    client_id: settings.values.chat_app_id ?? '',
    scope: scopes,
    redirect_uri: redirectUri(services, project),
    state: stateOf(entered),
  })
  return sendFormPage(reply, 200, {
    title: 'Chat app',
    root,
    body: html`<p>
        In the workspace where the app is installed, people give commands to
        <strong>${project.fullPath}</strong>, and channels hear what happens there.
      </p>
      <p><a href="${consent}">Install the app</a></p>`,
  })
}

/** The platform sends the browser back with a code, which is changed for the token of the app. */
async function finish(
  services: InstallServices,
  request: FastifyRequest,
  reply: FastifyReply,
  entered: Entered,
): Promise<FastifyReply> {
  const { db, cipher, chatPlatform, settings } = services
  const { project, root } = entered
  const { code, state } = request.query as Readonly<Record<string, unknown>>
  const problem = (status: number, text: string): FastifyReply => problemPage(reply, status, root, text)
  if (typeof state !== 'string' || !isSameSecret(state, stateOf(entered)))
    return problem(403, 'Nobody has asked for this here.')
  if (typeof code !== 'string' || code === '' || code.length > longest)
    return problem(400, 'The app was not let into the workspace.')
  const { chat_app_id: id, chat_app_secret: secret } = settings.values
  const said = await chatPlatform.exchange({
    client_id: id ?? '',
    client_secret: secret ?? '',
    code,
    redirect_uri: redirectUri(services, project),
  })
  const workspace = said.ok ? workspaceIn(said.value) : undefined
  if (workspace === undefined)
    return problem(400, `The platform did not let the app in${said.ok ? '' : `: ${said.error}`}.`)
  await db.transaction(async (tx) => {
    await store.saveWorkspace(tx, { ...workspace, token: cipher.seal(workspace.token, tokenContext) })
    await store.install(tx, await activateApp(tx, cipher, project.id), workspace.teamId)
  })
  return sendFormPage(reply, 200, {
    title: 'Chat app',
    root,
    body: html`<p role="status">
      The app is installed in <strong>${workspace.name}</strong> for <strong>${project.fullPath}</strong>.
    </p>`,
  })
}

const longestText = 500

/** What the answer tells of the workspace; undefined where it makes no sense. */
function workspaceIn(value: Readonly<Record<string, unknown>>): store.Workspace | undefined {
  const text = (from: unknown): string | undefined =>
    typeof from === 'string' && from !== '' && from.length <= longestText && !from.includes('\0')
      ? from
      : undefined
  const team = (value['team'] ?? {}) as Readonly<Record<string, unknown>>
  const teamId = text(team['id'])
  const token = text(value['access_token'])
  if (teamId === undefined || token === undefined) return undefined
  return {
    teamId,
    token,
    name: text(team['name']) ?? teamId,
    botUserId: text(value['bot_user_id']) ?? null,
    scopes: (text(value['scope']) ?? '').split(',').filter((scope) => scope !== ''),
  }
}
