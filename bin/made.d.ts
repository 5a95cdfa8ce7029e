export declare const bundle: string
export declare const database: string
export declare const scripts: string
export declare function beginMaking(folder: string): void
export declare function endMaking(folder: string, files: readonly string[]): void
export declare function isUpToDate(folder: string): boolean
