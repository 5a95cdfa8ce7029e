import { element } from './dom.js'
import { example, resolve, typeText } from './schema.js'
import { tryForm } from './try.js'

/** One endpoint as a line that opens; what is inside is made when it is first opened. */
export function endpointView(endpoint, api) {
  const { method, path, operation } = endpoint
  const view = element(
    'details',
    { className: 'endpoint', id: operation.operationId },
    element(
      'summary',
      {},
      element('span', { className: `method ${method}` }, method),
      element('span', { className: 'path' }, ...pathParts(path)),
      element('span', { className: 'about' }, operation.summary),
    ),
  )
  view.addEventListener('toggle', () => {
    if (view.open && view.childElementCount === 1) view.append(detail(endpoint, api))
  })
  return view
}

function pathParts(path) {
  return path.split(/(\{\w+\})/).map((part) => (part.startsWith('{') ? element('var', {}, part) : part))
}

function detail(endpoint, api) {
  const { operation } = endpoint
  const params = allParams(operation, api.document)
  return element(
    'div',
    { className: 'detail' },
    facts(operation),
    operation.description && element('p', {}, operation.description),
    params.length > 0 && element('h3', {}, 'Parameters'),
    params.length > 0 && paramTable(params, api.document),
    element('h3', {}, 'Answers'),
    ...Object.entries(operation.responses).map(([status, answer]) =>
      answerView(status, answer, api.document),
    ),
    element('h3', {}, 'Try it'),
    tryForm(endpoint, params, api),
  )
}

function facts(operation) {
  const { on, may } = operation['x-ability']
  const scopes = operation['x-scopes'] ?? []
  const anonymous = operation.security.some((scheme) => Object.keys(scheme).length === 0)
  const list = [
    [`needs `, element('code', {}, may), ` on ${on}`],
    scopes.length > 0 && ['scope ', element('code', {}, scopes.join(' or '))],
    anonymous && ['also without a token'],
    operation.security.some((scheme) => 'jobToken' in scheme) && ['takes a job token'],
    operation['x-plan'] !== undefined && [`plan ${operation['x-plan']}`],
  ]
  return element(
    'ul',
    { className: 'facts', 'aria-label': 'Who may call it' },
    list.filter(Boolean).map((parts) => element('li', {}, ...parts)),
  )
}

/** Parameters of path, query and body alike: to the service they are one bag. */
function allParams({ parameters = [], requestBody }, document) {
  const schema = resolve(Object.values(requestBody?.content ?? {})[0]?.schema ?? {}, document)
  const inBody = Object.entries(schema.properties ?? {}).map(([name, property]) => ({
    name,
    in: 'body',
    required: (schema.required ?? []).includes(name),
    description: property.description,
    deprecated: property.deprecated,
    schema: property,
  }))
  return [...parameters, ...inBody]
}

function paramTable(params, document) {
  const rows = params.map((param) =>
    element(
      'tr',
      {},
      element('td', {}, element('code', {}, param.name), param.required && requiredMark()),
      element('td', { className: 'soft' }, param.in),
      element('td', {}, typeText(param.schema, document)),
      element(
        'td',
        {},
        [param.deprecated && 'Deprecated.', param.description, limits(param.schema)]
          .filter(Boolean)
          .join(' '),
      ),
    ),
  )
  const titles = ['Name', 'In', 'Type', 'What it is'].map((title) => element('th', { scope: 'col' }, title))
  return element(
    'div',
    { className: 'scroll' },
    element('table', {}, element('thead', {}, element('tr', {}, titles)), element('tbody', {}, rows)),
  )
}

function requiredMark() {
  return element('span', { className: 'required' }, ' required')
}

function limits(schema) {
  const parts = [
    schema.default !== undefined && `Default ${JSON.stringify(schema.default)}.`,
    schema.minimum !== undefined && `At least ${schema.minimum}.`,
    schema.maximum !== undefined && `At most ${schema.maximum}.`,
    schema.maxLength !== undefined && `At most ${schema.maxLength} characters.`,
  ]
  return parts.filter(Boolean).join(' ')
}

function answerView(status, answer, document) {
  const { description, content } = answer.$ref === undefined ? answer : document.components.responses[status]
  const schema = content?.['application/json']?.schema
  const line = [
    element('span', { className: `status ${Number(status) < 400 ? 'good' : 'bad'}` }, status),
    ` ${description}`,
  ]
  if (schema === undefined || Number(status) >= 400) return element('div', { className: 'answer' }, ...line)
  return element(
    'details',
    { className: 'answer' },
    element('summary', {}, ...line, element('span', { className: 'soft' }, ` ${typeText(schema, document)}`)),
    element('pre', { tabIndex: 0 }, JSON.stringify(example(schema, document), null, 2)),
  )
}
