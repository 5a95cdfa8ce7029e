import type { Rule } from 'eslint'

export declare const noShell: Rule.RuleModule
