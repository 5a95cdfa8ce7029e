import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parsePolicies, type Policy } from './parse.ts'

const action = '{type: require_approval, approvals_required: 1, user_approvers: [ada]}'
const rule = '{type: any_merge_request, branches: [], commits: any}'

function policy(lines: readonly string[]): Policy {
  const { policies, problem } = parsePolicies(`approval_policy:\n- ${lines.join('\n  ')}\n`)
  expect(problem).toBeNull()
  return policies[0]!
}
const usual = (...lines: string[]): Policy => {
  const keys = new Set(lines.map((line) => line.slice(0, line.indexOf(':'))))
  const rest = ['name: Two eyes', 'enabled: true', `rules: [${rule}]`, `actions: [${action}]`]
  return policy([...rest.filter((line) => !keys.has(line.slice(0, line.indexOf(':')))), ...lines])
}

describe('a policy', () => {
  test('is read with its rules and actions', () => {
    expect(
      policy([
        'name: Two eyes',
        'description: For all',
        'enabled: true',
        'rules:',
        '- {type: any_merge_request, branch_type: protected, commits: unsigned, branch_exceptions: [a, {name: b, full_path: c/d}]}',
        'actions:',
        '- {type: require_approval, approvals_required: 2, user_approvers: [ada, 7], user_approvers_ids: [1], group_approvers: [a/b], group_approvers_ids: [2], role_approvers: [owner]}',
        'policy_scope: {projects: {including: [{id: 3}], excluding: [{id: 4}]}}',
        'fallback_behavior: {fail: open}',
      ]),
    ).toEqual({
      name: 'Two eyes',
      description: 'For all',
      enabled: true,
      rules: [
        {
          type: 'any_merge_request',
          effective: true,
          branch_type: 'protected',
          branches: null,
          branch_exceptions: [
            { name: 'a', full_path: null },
            { name: 'b', full_path: 'c/d' },
          ],
          commits: 'unsigned',
        },
      ],
      actions: [
        {
          approvals_required: 2,
          user_approvers: ['ada', '7'],
          user_approvers_ids: [1],
          group_approvers: ['a/b'],
          group_approvers_ids: [2],
          role_approvers: ['owner'],
        },
      ],
      failsClosed: false,
      onlyProjects: [3],
      exceptProjects: [4],
      problem: null,
      notes: [],
    })
  })

  test('keeps what is not known, and says so', () => {
    const scan = '{type: scan_finding, branches: [], scanners: [sast]}'
    expect(
      usual(`rules: [${scan}, ${rule}]`, 'approval_settings: {prevent_approval_by_author: true}'),
    ).toMatchObject({
      rules: [{ type: 'scan_finding', effective: false }, { effective: true }],
      problem: null,
      notes: ['Rules of type scan_finding: no effect', 'approval_settings: no effect'],
    })
    expect(usual(`rules: [${scan}]`).problem).toBe('No rule is of type any_merge_request')
    expect(usual('actions: [{type: send_bot_message, enabled: true}]')).toMatchObject({
      problem: 'No action asks for approvals',
      notes: ['Actions of type send_bot_message: no effect'],
    })
  })

  test.for([
    ['name: [a]', 'name is no text of 1 to 255 characters'],
    [`name: "${'x'.repeat(256)}"`, 'name is no text of 1 to 255 characters'],
    ['name: "a\\0"', 'name is no text of 1 to 255 characters'],
    ['enabled: 1', 'enabled is neither true nor false'],
    ['rules: {}', 'rules is no list'],
    ['rules: [1]', 'rules does not hold fields'],
    [`rules: [${Array(6).fill(rule).join(', ')}]`, 'rules holds more than 5'],
    ['rules: [{type: any_merge_request, commits: any}]', 'A rule needs either branches or branch_type'],
    [
      'rules: [{type: any_merge_request, branches: [], branch_type: default, commits: any}]',
      'A rule needs either branches or branch_type',
    ],
    [
      'rules: [{type: any_merge_request, branch_type: all, commits: any}]',
      'branch_type is neither default nor protected',
    ],
    ['rules: [{type: any_merge_request, branches: []}]', 'commits is neither any nor unsigned'],
    ['rules: [{type: any_merge_request, branches: [{}], commits: any}]', 'branches holds what is no name'],
    [
      'rules: [{type: any_merge_request, branches: [], branch_exceptions: [{name: a}], commits: any}]',
      'branch_exceptions holds what is no branch',
    ],
    [
      'actions: [{type: require_approval, user_approvers: [a]}]',
      'approvals_required is no number from 0 to 100',
    ],
    [
      'actions: [{type: require_approval, approvals_required: 101, user_approvers: [a]}]',
      'approvals_required is no number from 0 to 100',
    ],
    ['actions: [{type: require_approval, approvals_required: 1}]', 'An action names no approvers'],
    [
      'actions: [{type: require_approval, approvals_required: 1, role_approvers: [constructor]}]',
      'role_approvers holds what is no role',
    ],
    [
      'actions: [{type: require_approval, approvals_required: 1, user_approvers_ids: [1.5]}]',
      'user_approvers_ids holds what is no id',
    ],
    ['policy_scope: {groups: {including: [{id: 1}]}}', 'policy_scope by groups is not known'],
    ['fallback_behavior: {fail: maybe}', 'fail is neither open nor closed'],
  ] as const)('does nothing with %s', ([line, problem]) => {
    expect(usual(line)).toMatchObject({ problem, actions: [] })
  })
})

describe('a file', () => {
  test.for([
    ['', 'The file is no valid YAML'],
    ['a: [', 'The file is no valid YAML'],
    ['- a', 'The file holds no policies'],
    ['approval_policy: 1', 'approval_policy is no list'],
    [`approval_policy: [${'{},'.repeat(101)}]`, 'There are more than 100 policies'],
  ] as const)('of %j has none', ([source, problem]) => {
    expect(parsePolicies(source)).toEqual({ policies: [], problem })
  })

  test('may hold anything', () => {
    expect(parsePolicies('scan_execution_policy: []')).toEqual({ policies: [], problem: null })
    fc.assert(
      fc.property(fc.json(), (json) => {
        expect(() =>
          parsePolicies(`approval_policy: [${json}, {name: a, enabled: true, rules: ${json}}]`),
        ).not.toThrow()
      }),
      { numRuns: 100 },
    )
  })
})
