import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { nameRequest } from '../../../kernel/log/index.ts'
import { html, sendFormPage, type Html } from '../../../kernel/pages/index.ts'
import { applicationFaults, newSecret, newUid, type Application } from '../applications.ts'
import { listGranted, revokeGranted, type Granted } from '../grants.ts'
import { urisIn } from '../redirects.ts'
import { oauthScopes, scopesIn } from '../scopes.ts'
import type { OAuthServices } from '../services.ts'
import * as store from '../store.ts'
import { formOf, visitorOf, type Form, type SignedInVisitor } from '../visitor.ts'
import { csrfField, problemPage } from './forms.ts'

const path = '/-/user_settings/applications'
const root = '../..'

/** The applications that a user has registered, and those that he has let act for him. */
export function mountOwnApplications(server: FastifyInstance, services: OAuthServices): void {
  const { db, settings, externalUrl } = services

  server.get(path, async (request, reply) => {
    nameRequest('list own applications')
    const visitor = await visitorOf(services, request)
    if (visitor === undefined) {
      return reply.redirect(`${externalUrl()}/users/sign_in?return_to=${encodeURIComponent(path)}`, 302)
    }
    return typeof visitor === 'string' ? problemPage(reply, 403, root, visitor) : show(reply, 200, visitor)
  })

  type Handle = (visitor: SignedInVisitor, form: Form, id: number) => Promise<FastifyReply>
  const post = (address: string, name: string, handle: (reply: FastifyReply) => Handle): void => {
    server.post<{ Params: { id?: string } }>(address, async (request: FastifyRequest, reply) => {
      nameRequest(name)
      const visitor = await visitorOf(services, request)
      const form =
        visitor === undefined || typeof visitor === 'string' ? undefined : await formOf(request, visitor)
      if (form === undefined) return problemPage(reply, 403, root, 'The form is not of this page.')
      const { id = '0' } = request.params as { id?: string }
      if (!/^\d{1,15}$/.test(id)) {
        reply.callNotFound()
        return reply
      }
      return handle(reply)(visitor as SignedInVisitor, form, Number(id))
    })
  }
  const back = (reply: FastifyReply) => reply.redirect(externalUrl() + path, 302)

  post(path, 'register an application', (reply) => async (visitor, form) => {
    // The form is not there either.
    if (!settings.values.user_oauth_applications) return reply.redirect(`${externalUrl()}/`, 302)
    const order = {
      name: form['name'] ?? '',
      redirectUri: form['redirect_uri'] ?? '',
      scopes: form['scopes'] ?? '',
    }
    const faults = applicationFaults(order)
    if (Object.keys(faults).length > 0) return show(reply, 422, visitor, { sent: order, faults })
    const { secret, digest } = newSecret()
    const made = await db.transaction((tx) =>
      store.add(tx, {
        uid: newUid(),
        secret_digest: digest,
        name: order.name.trim(),
        redirect_uris: urisIn(order.redirectUri),
        scopes: scopesIn(order.scopes),
        confidential: form['confidential'] === '1',
        trusted: false,
        owner_id: visitor.user.id,
      }),
    )
    return show(reply, 201, visitor, { made, secret })
  })

  post(`${path}/:id/remove`, 'remove an application', (reply) => async (visitor, _form, id) => {
    await db.transaction((tx) => store.remove(tx, id, visitor.user.id))
    return back(reply)
  })

  post(`${path}/:id/revoke`, 'end what an application may', (reply) => async (visitor, _form, id) => {
    await db.transaction((tx) => revokeGranted(tx, visitor.user.id, id))
    return back(reply)
  })

  async function show(
    reply: FastifyReply,
    status: number,
    visitor: SignedInVisitor,
    more: Shown = {},
  ): Promise<FastifyReply> {
    const [own, granted] = await Promise.all([
      store.listOwn(db.reader, visitor.user.id),
      listGranted(db.reader, visitor.user.id),
    ])
    const registers = settings.values.user_oauth_applications
    return sendFormPage(reply, status, {
      title: 'Applications',
      root,
      body: html`${more.made !== undefined && secretOf(more.made, more.secret ?? '')}
      ${registers && registration(visitor, more)} ${list(visitor, own)} ${grantedList(visitor, granted)}`,
    })
  }
}

interface Shown {
  readonly sent?: { readonly name: string; readonly redirectUri: string; readonly scopes: string }
  readonly faults?: Readonly<Record<string, readonly string[]>>
  readonly made?: Application
  readonly secret?: string
}

function secretOf({ name, uid }: Application, secret: string): Html {
  return html`<section role="status">
    <p>${name} is registered. Its secret is shown this once.</p>
    <dl>
      <dt>Application ID</dt>
      <dd><code>${uid}</code></dd>
      <dt>Secret</dt>
      <dd><code>${secret}</code></dd>
    </dl>
  </section>`
}

const labels: Readonly<Record<string, string>> = {
  name: 'Name',
  redirect_uri: 'Redirect URI',
  scopes: 'Scopes',
}

function registration(visitor: SignedInVisitor, { sent, faults = {} }: Shown): Html {
  const faulty = Object.entries(faults)
  return html`<h2>Register an application</h2>
    <form method="post" action="applications">
      ${csrfField(visitor)}
      ${
        faulty.length > 0 &&
        html`<ul role="alert">
          ${faulty.map(([name, texts]) => html`<li>${labels[name] ?? name} ${texts.join(', ')}</li>`)}
        </ul>`
      }
      <label>Name <input name="name" value="${sent?.name ?? ''}" required /></label>
      <label
        >Redirect URI, one a line <textarea name="redirect_uri" required>${sent?.redirectUri ?? ''}</textarea>
      </label>
      <label
        >Scopes, with blanks between
        <input name="scopes" value="${sent?.scopes ?? ''}" required />
        <small>${oauthScopes.join(' ')}</small></label
      >
      <label class="choice"
        ><input name="confidential" type="checkbox" value="1" checked /> It can keep a secret</label
      >
      <button type="submit">Register</button>
    </form>`
}

function list(visitor: SignedInVisitor, own: readonly Application[]): Html | false {
  return (
    own.length > 0 &&
    html`<h2>Your applications</h2>
      <ul>
        ${own.map(
          ({ id, name, uid }) =>
            html`<li>
              ${name} <code>${uid}</code>
              <form method="post" action="applications/${id}/remove">
                ${csrfField(visitor)}<button type="submit">Remove</button>
              </form>
            </li>`,
        )}
      </ul>`
  )
}

function grantedList(visitor: SignedInVisitor, granted: readonly Granted[]): Html | false {
  return (
    granted.length > 0 &&
    html`<h2>Applications that may act for you</h2>
      <ul>
        ${granted.map(
          ({ application_id: id, name, scopes }) =>
            html`<li>
              ${name} <small>${scopes.join(' ')}</small>
              <form method="post" action="applications/${id}/revoke">
                ${csrfField(visitor)}<button type="submit">Revoke</button>
              </form>
            </li>`,
        )}
      </ul>`
  )
}
