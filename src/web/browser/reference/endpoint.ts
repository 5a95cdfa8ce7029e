import { tags, type Child } from '../dom.ts'
import { typeText, type Schema } from '../schema.ts'
import {
  example,
  paramsOf,
  type Answer,
  type Endpoint,
  type OpenApi,
  type Operation,
  type Param,
} from './document.ts'
import { tryForm } from './try.ts'

const { code, details, div, h3, li, p, pre, span, summary, table, tbody, td, th, thead, tr, ul } = tags

/** One endpoint as a line that opens; what is inside is made when it is first opened. */
export function endpointView(endpoint: Endpoint, document: OpenApi): HTMLDetailsElement {
  const { method, path, operation } = endpoint
  const view = details(
    {
      className: 'endpoint',
      id: operation.operationId,
      ontoggle() {
        if (view.open && view.childElementCount === 1) view.append(detail(endpoint, document))
      },
    },
    summary(
      span({ className: `method ${method}` }, method),
      span({ className: 'path' }, pathParts(path)),
      span({ className: 'about' }, operation.summary),
    ),
  )
  return view
}

function pathParts(path: string): Child {
  return path.split(/(\{\w+\})/).map((part) => (part.startsWith('{') ? tags.var(part) : part))
}

function detail(endpoint: Endpoint, document: OpenApi): HTMLElement {
  const { operation } = endpoint
  const params = paramsOf(operation, document)
  return div(
    { className: 'detail' },
    facts(operation),
    operation.description !== undefined && p(operation.description),
    params.length > 0 && [h3('Parameters'), paramTable(params)],
    h3('Answers'),
    Object.entries(operation.responses).map(([status, answer]) => answerView(status, answer, document)),
    h3('Try it'),
    tryForm(endpoint, params),
  )
}

function facts({
  security,
  'x-ability': { on, may },
  'x-scopes': scopes = [],
  'x-plan': plan,
}: Operation): HTMLElement {
  return ul(
    { className: 'facts', 'aria-label': 'Who may call it' },
    li('needs ', code(may), ` on ${on}`),
    scopes.length > 0 && li('scope ', code(scopes.join(' or '))),
    security.some((scheme) => Object.keys(scheme).length === 0) && li('also without a token'),
    security.some((scheme) => 'jobToken' in scheme) && li('takes a job token'),
    plan !== undefined && li(`plan ${plan}`),
  )
}

function paramTable(params: readonly Param[]): HTMLElement {
  return div(
    { className: 'scroll' },
    table(
      thead(tr(['Name', 'In', 'Type', 'What it is'].map((title) => th({ scope: 'col' }, title)))),
      tbody(
        params.map(({ name, in: place, required, schema, deprecated, description }) =>
          tr(
            td(code(name), required === true && span({ className: 'required' }, ' required')),
            td({ className: 'soft' }, place),
            td(typeText(schema)),
            td(sentences(deprecated === true && 'Deprecated.', description, limits(schema))),
          ),
        ),
      ),
    ),
  )
}

function limits({ default: fallback, minimum, maximum, maxLength }: Schema): string {
  return sentences(
    fallback !== undefined && `Default ${JSON.stringify(fallback)}.`,
    minimum !== undefined && `At least ${minimum}.`,
    maximum !== undefined && `At most ${maximum}.`,
    maxLength !== undefined && `At most ${maxLength} characters.`,
  )
}

function sentences(...all: readonly (string | false | undefined)[]): string {
  return all.filter((one) => one !== false && one !== undefined && one !== '').join(' ')
}

function answerView(
  status: string,
  answer: Answer | { readonly $ref: string },
  document: OpenApi,
): HTMLElement {
  const { description, content } = '$ref' in answer ? document.components.responses[status]! : answer
  const schema = content?.['application/json']?.schema
  const isGood = Number(status) < 400
  const line = [span({ className: `status ${isGood ? 'good' : 'bad'}` }, status), ` ${description}`]
  if (schema === undefined || !isGood) return div({ className: 'answer' }, line)
  return details(
    { className: 'answer' },
    summary(line, span({ className: 'soft' }, ` ${typeText(schema)}`)),
    pre({ tabIndex: 0 }, JSON.stringify(example(schema, document), null, 2)),
  )
}
