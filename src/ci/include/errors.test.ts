import { expect, test } from 'vitest'
import { errorsIn, type World } from '../fixtures/sources.ts'

/** The literal texts of what can be wrong with includes. */

const world: World = {
  projects: {
    'acme/app': { HEAD: { 'empty.yml': ' ', 'bad.yml': 'x: [', 'list.yml': '- a', 'ok.yml': '.x: 1' } },
    'acme/lib': { HEAD: { 'empty.yml': '\n', 'up.yml': 'include: ok.yml' } },
    'acme/parts': { v1: { 'templates/empty.yml': '' } },
  },
  tags: { 'acme/parts': ['1.0.0'] },
  remote: {
    'https://x.test/gone.yml': 404,
    'https://x.test/blank.yml': '',
    'https://x.test/local.yml': 'include: ok.yml',
    'https://x.test/lib.yml': 'include: {project: acme/lib, file: up.yml}',
  },
  hidden: ['acme/lib'],
  artifacts: { build: { 'blank.yml': ' ' } },
}
const component = (address: string) => `{component: '${address}'}`
const text = (address: string, reason: string) => `Component '${address}' - ${reason}`

test.each([
  ['1', 'Each include must be a hash or a string'],
  [
    '{x: 1}',
    '`{"x":1}` does not have a valid subkey for include. Valid subkeys are: `local`, `project`, `remote`, `template`, `component`, `artifact`',
  ],
  [
    '{local: a.yml, remote: b.yml}',
    'Each include must use only one of: `local`, `project`, `remote`, `template`, `component`, `artifact`',
  ],
  ['{local: ok.yml, x: 1}', 'include config contains unknown keys: x'],
  ['{local: ok.yml, inputs: 1}', 'include:inputs config should be a hash'],
  ['none.yml', 'Local file `none.yml` does not exist!'],
  ['empty.yml', 'Local file `empty.yml` is empty!'],
  ['a.txt', 'Included file `a.txt` does not have YAML extension!'],
  ['{local: [a]}', 'Included file `["a"]` needs to be a string'],
  ['bad.yml', 'Included file `bad.yml` does not have valid YAML syntax!'],
  ['list.yml', 'Included file `list.yml` does not have valid YAML syntax!'],
  [
    '{project: none, file: a.yml}',
    'Project `none` not found or access denied! Make sure any includes in the pipeline configuration are correctly defined.',
  ],
  ['{project: acme/lib, file: a.yml, ref: r}', 'Project `acme/lib` reference `r` does not exist!'],
  ['{project: acme/lib, file: a.yml}', 'Project `acme/lib` file `a.yml` does not exist!'],
  ['{project: acme/lib, file: empty.yml}', 'Project `acme/lib` file `empty.yml` is empty!'],
  ['{project: acme/lib}', 'include config must specify the file where to fetch the config from'],
  ['{project: acme/lib, file: up.yml}', 'Local file `ok.yml` does not exist!'],
  [
    'https://x.test/gone.yml',
    'Remote file `https://x.test/gone.yml` could not be fetched after 4 attempts because of HTTP code `404` error!',
  ],
  [
    'https://x.test/none.yml',
    'Remote file `https://x.test/none.yml` could not be fetched because of a socket error!',
  ],
  ['{remote: x/a.yml}', 'Remote file `x/a.yml` does not have a valid address!'],
  ['https://x.test/blank.yml', 'Included file `https://x.test/blank.yml` is empty or does not exist!'],
  ['https://x.test/local.yml', 'Local file `ok.yml` does not have project!'],
  [
    'https://x.test/lib.yml',
    'Project `acme/lib` not found or access denied! Make sure any includes in the pipeline configuration are correctly defined.',
  ],
  [
    '{remote: "https://x.test/a.yml", integrity: md5-x}',
    "include config integrity hash must start with 'sha256-'",
  ],
  [
    '{remote: "https://x.test/a.yml", integrity: sha256-?}',
    'include config integrity hash must be base64 encoded',
  ],
  ['{local: ok.yml, integrity: x}', 'include config integrity can only be specified for remote includes'],
  ['{template: Bash.yml}', 'Template file `Bash.yml` is not a valid location!'],
  ['{template: No.gitlab-ci.yml}', 'Included file `No.gitlab-ci.yml` is empty or does not exist!'],
  ['{template: ../x.gitlab-ci.yml}', 'Included file `../x.gitlab-ci.yml` is empty or does not exist!'],
  [
    '{artifact: a.yml, job: build}',
    'Including configs from artifacts is only allowed when triggering child pipelines',
  ],
  ...['other.test/acme/parts/a@1', 'ci.example.test/acme/parts/a', 'ci.example.test/a@1'].map((address) => [
    component(address),
    text(address, 'the component path is not supported'),
  ]),
  ...['a@v1', 'a@v2', 'a@~latest', 'a@1', 'empty@v1', '..@v1'].map((name) => {
    const address = `ci.example.test/acme/parts/${name}`
    return [component(address), text(address, 'content not found')]
  }),
  ...['a@v1', 'a@~latest'].map((name) => {
    const address = `ci.example.test/acme/none/${name}`
    return [
      component(address),
      text(address, "project does not exist or you don't have sufficient permissions"),
    ]
  }),
])('%s', (include, error) => expect(errorsIn(world, `include: [${include}]`)).toEqual([error]))

test.each([
  ['{artifact: a.yml}', 'Job must be provided when including configs from artifacts'],
  ['{artifact: a.yml, job: x}', 'Job `x` not found in parent pipeline or does not have artifacts!'],
  ['{artifact: a.yml, job: build}', 'no such entry in the archive'],
  ['{artifact: blank.yml, job: build}', 'File `blank.yml` is empty!'],
])('of a child pipeline: %s', (include, error) =>
  expect(errorsIn(world, `include: [${include}]`, { child: true })).toEqual([error]),
)
