import { describe, expect, test } from 'vitest'
import { errorsOf, jobsOf } from '../fixtures/pipelines.ts'

/** The literal texts of what can be wrong with releases, secrets, steps, job inputs and needs of trigger jobs. */

const job = (keys: string) => `a: {script: x, ${keys}}\nb: {script: x}`
const bridge = (keys: string) => `a: {trigger: g/p, ${keys}}\nb: {script: x}`
const release = (keys: string) => job(`release: {tag_name: v1, description: d, ${keys}}`)
const input = (keys: string) => job(`inputs: {x: {${keys}}}`)
const providers = 'vault, gcp_secret_manager, azure_key_vault, aws_secrets_manager, akeyless'

test.each([
  [job('release: {description: x}'), "jobs:a:release tag name can't be blank"],
  [job('release: {tag_name: x}'), "jobs:a:release description can't be blank"],
  [release('x: 1'), 'jobs:a:release config contains unknown keys: x'],
  [release('ref: a..b'), 'jobs:a:release ref must be a valid ref'],
  [release('released_at: soon'), 'jobs:a:release released at must be a valid datetime'],
  [release('milestones: 1'), 'jobs:a:release milestones should be an array of strings or a string'],
  [release('assets: {x: 1}'), 'jobs:a:release:assets config contains unknown keys: x'],
  [release('assets: {links: x}'), 'jobs:a:release:assets:links config should be an array'],
  [release('assets: {links: [{name: n}]}'), "jobs:a:release:assets:links:link url can't be blank"],
  [
    release('assets: {links: [{name: n, url: u, link_type: x}]}'),
    'jobs:a:release:assets:links:link link type should be one of: other, runbook, image, package',
  ],

  [job('secrets: [x]'), 'jobs:a:secrets config should be a hash'],
  [job('secrets: {S: x}'), 'jobs:a:secrets:s config should be a hash'],
  [
    job('secrets: {S: {file: true}}'),
    `jobs:a:secrets:s config must use exactly one of these keys: ${providers}`,
  ],
  [
    job('secrets: {S: {vault: a/b, akeyless: {}}}'),
    `jobs:a:secrets:s config must use exactly one of these keys: ${providers}`,
  ],
  [job('secrets: {S: {vault: a/b, x: 1}}'), 'jobs:a:secrets:s config contains unknown keys: x'],
  [job('secrets: {S: {vault: a/b, file: x}}'), 'jobs:a:secrets:s file should be a boolean value'],
  [job('secrets: {S: {vault: 1}}'), 'jobs:a:secrets:s:vault config should be a hash or a string'],
  [
    job('secrets: {S: {vault: {path: p, field: f}}}'),
    'jobs:a:secrets:s:vault config missing required keys: engine',
  ],
  [
    job('secrets: {S: {vault: {path: p, field: f, engine: {name: n}}}}'),
    'jobs:a:secrets:s:vault:engine config missing required keys: path',
  ],
  [
    job('secrets: {S: {azure_key_vault: {version: 1}}}'),
    'jobs:a:secrets:s:azure_key_vault config missing required keys: name',
  ],

  [job('id_tokens: x'), 'jobs:a:id_tokens config should be a hash'],
  [job('id_tokens: {T: {}}'), 'jobs:a:id_tokens:t config missing required keys: aud'],
  [job('id_tokens: {T: {aud: 1}}'), 'jobs:a:id_tokens:t aud should be an array of strings or a string'],
  [job('id_tokens: {T: {aud: a, x: 1}}'), 'jobs:a:id_tokens:t config contains unknown keys: x'],
  [job('identity: x'), 'jobs:a identity should be one of: google_cloud'],
  [job('dast_configuration: {x: 1}'), 'jobs:a:dast_configuration config contains unknown keys: x'],

  ['a: {run: x}', 'jobs:a:run config should be an array of hashes'],
  ['a: {run: [{script: x}]}', "jobs:a:run:step name can't be blank"],
  ['a: {run: [{name: n}]}', 'jobs:a:run:step config must use exactly one of these keys: script, step'],
  [
    'a: {run: [{name: n, script: x, step: y}]}',
    'jobs:a:run:step config must use exactly one of these keys: script, step',
  ],
  ['a: {run: [{name: n, script: x, env: [y]}]}', 'jobs:a:run:step env should be a hash'],

  [job('inputs: x'), 'jobs:a:inputs config should be a hash'],
  [input('type: string'), 'jobs:a:inputs:x must have a default value'],
  [input('default: a, type: number'), '`x` input: default value is not a number'],
  [
    input('default: a, options: [b]'),
    '`x` input: `a` cannot be used because it is not in the list of allowed options',
  ],
  [input('default: a, rules: []'), 'jobs:a:inputs:x config contains unknown keys: rules'],
  [input('default: a, type: x'), 'jobs:a:inputs:x input type unknown value: x'],
  [
    job(`inputs: {${Array.from({ length: 51 }, (_, i) => `i${i}: {default: a}`).join()}}`),
    'jobs:a:inputs config has too many entries (maximum 50)',
  ],

  [
    bridge('needs: [{project: g/p, job: j, ref: r}]'),
    'jobs:a:needs config uses invalid types: cross_dependency',
  ],
  [bridge('needs: [{pipeline: $P, job: j}]'), 'jobs:a:needs config uses invalid types: cross_dependency'],
  [
    bridge('rules: [{needs: [{project: g/p, job: j, ref: r}]}]'),
    'jobs:a:needs config uses invalid types: cross_dependency',
  ],
  [job('needs: [{pipeline: g/p}]'), 'jobs:a:needs config uses invalid types: bridge'],
  ['a: {needs: [{pipeline: g/p}, {pipeline: g/q}]}', 'jobs:a config should contain at most one bridge need'],
  [
    'types: {script: x}\na: {script: x}',
    'jobs types config should implement the script:, run:, or trigger: keyword',
  ],
])('%s', (source, error) => expect(errorsOf(source)).toEqual([error]))

describe('what is read', () => {
  test('needs of trigger jobs', () => {
    const [, trigger] = jobsOf('b: {script: x}\na: {trigger: g/p, needs: [b, {pipeline: g/q}]}')
    expect(trigger).toMatchObject({ needs: [{ name: 'b' }], bridge: { project: 'g/p' } })
  })

  test('inputs of a job, with their defaults as values', () => {
    const [made] = jobsOf(input('type: number, default: "3", description: how many, options: [3, 4]'))
    expect(made).toMatchObject({
      inputs: { x: 3 },
      inputSpecs: [{ name: 'x', type: 'number', description: 'how many', options: [3, 4] }],
    })
  })

  test('steps and secrets stay as they are', () => {
    const steps = [{ name: 'n', step: 'u@v1', inputs: { a: [1] }, env: { B: '1' } }]
    const secrets = { S: { vault: { engine: { name: 'n', path: 'p' }, path: 'p', field: 'f' }, file: false } }
    const [made] = jobsOf(`a: {run: ${JSON.stringify(steps)}, secrets: ${JSON.stringify(secrets)}}`)
    expect(made).toMatchObject({ run: steps, secrets, steps: [] })
  })

  test('the release becomes a step, with the words of its shell', () => {
    const made = jobsOf(
      release(
        'name: "Say \\"hi\\" to $CI_COMMIT_TAG", ref: main, milestones: [a, b], released_at: 2024-01-02T03:04:05Z, ' +
          'tag_message: m, assets: {links: [{name: n, url: https://x.test, link_type: image}]}',
      ),
    )[0]!.steps
    const links = '\\"name\\":\\"n\\",\\"url\\":\\"https://x.test\\",\\"link_type\\":\\"image\\"'
    expect(made.map(({ name }) => name)).toEqual(['script', 'release'])
    expect(made[1]!.script[0]!.split('\n')).toEqual([
      'if command -v glab >/dev/null 2>&1; then',
      '  export GITLAB_HOST="$CI_SERVER_URL"',
      '  glab auth login --job-token "$CI_JOB_TOKEN" --hostname "$CI_SERVER_FQDN" --api-protocol "$CI_SERVER_PROTOCOL"',
      `  glab release create -R "$CI_PROJECT_PATH" "v1" --assets-links "[{${links}}]" --milestone "a,b" ` +
        '--name "Say \\"hi\\" to $CI_COMMIT_TAG" --experimental-notes-text-or-file "d" --ref "main" ' +
        '--tag-message "m" --released-at "2024-01-02T03:04:05Z" --no-update --no-close-milestone',
      'else',
      '  release-cli create --name "Say \\"hi\\" to $CI_COMMIT_TAG" --description "d" --tag-name "v1" ' +
        `--tag-message "m" --ref "main" --released-at "2024-01-02T03:04:05Z" --milestone "a" --milestone "b" --assets-link "{${links}}"`,
      'fi',
    ])
  })
})
