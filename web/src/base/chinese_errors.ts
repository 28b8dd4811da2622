/** What the server and its files say when something cannot be shown, in Chinese. */

/** Facts and advice; `{}` stands for a number, a name or a path, in the same order on both sides. */
const SENTENCES: Record<string, string> = {
  "the file is damaged or cut off at byte {}": "文件已损坏或被截断，位于第 {} 字节",
  "the file is damaged": "文件已损坏",
  "build or compare again": "请重新构图或比对",
  "the file has changed since it was opened": "文件在打开之后发生了变化",
  "reload the page": "请刷新页面",
  "open it again": "请重新打开",
  "open the file again": "请重新打开文件",
  "the file holds no step and rank": "文件中没有 step 与 rank",
  "the file holds no nodes": "文件中没有节点",
  "the file holds no nodes for this step and rank": "文件中没有该 step 与 rank 的节点",
  "the file has no such step and rank": "文件中没有这个 step 与 rank",
  "the file is of another kind than those beside it": "该文件与同组的其他文件类型不同",
  "view it alone": "请单独查看",
  "not a .vis file: expected a JSON object": "不是 .vis 文件：应为 JSON 对象",
  "give a file of msprobe graph": "请给出 msprobe graph 生成的文件",
  "the table tb_config is empty": "表 tb_config 为空",
  "the table {} has computed columns": "表 {} 含有计算列",
  "make it again with msprobe graph --format db": "请用 msprobe graph --format db 重新生成",
  "saved matches are read from a plain file, not by a link":
    "已保存的匹配只从普通文件读取，不通过链接读取",
  "remove it, or put the file there": "请将其删除，或把文件放在该处",
  "the file holds views or virtual tables, as none of msprobe does":
    "文件含有视图或虚拟表，msprobe 生成的文件没有这些",
  "{} is missing": "缺少 {}",
  "{} is empty": "{} 为空",
  "give a directory that the collection has written": "请给出采集所写的目录",
  "collect again, or give another directory": "请重新采集，或给出其他目录",
  "construct.json has no whole record": "construct.json 中没有完整的记录",
  "collect again: nothing was recorded, or it is lost":
    "请重新采集：没有记录任何内容，或记录已丢失",
  "the index of the file is damaged": "文件的索引已损坏",
  "check that this is the right file": "请确认文件是否正确",
  "the file is no longer there": "文件已不存在",
  "reload the list of files": "请刷新文件列表",
  "file does not exist": "文件不存在",
  "the file's name is not valid": "文件名无效",
  "the file does not lie below the viewed directory": "文件不在所查看的目录之下",
  "choose one of the list of files": "请选择文件列表中的文件",
  "view the directory that holds it": "请查看其所在目录",
  "symbolic links are not followed": "不跟随符号链接",
  "the viewer follows no symbolic links": "查看器不跟随符号链接",
  "view what it leads to, or write a .vis with msprobe graph":
    "请查看其指向的目录，或用 msprobe graph 生成 .vis",
  "view the directory itself": "请直接查看该目录",
  "neither a .vis, a .vis.db nor a dump": "既不是 .vis、.vis.db，也不是 dump",
  "check the path": "请检查路径",
  "cannot open the file": "无法打开文件",
  "cannot read the file": "无法读取文件",
  "cannot write the file": "无法写入文件",
  "cannot create the file": "无法创建文件",
  "cannot create a temporary file": "无法创建临时文件",
  "cannot list the directory": "无法列出目录",
  "allow reading it": "请授予读取权限",
  "not a regular file": "不是普通文件",
  "give the path of an ordinary file": "请给出普通文件的路径",
  "there is no dump": "没有 dump 数据",
  "give a directory with dump.json or step folders": "请给出包含 dump.json 或 step 文件夹的目录",
  "one side holds a structure only, the other one values": "一侧只有结构，另一侧有数值",
  "collect both sides with the same task": "请以相同的 task 采集两侧",
  "construct.json is empty": "construct.json 为空",
  "collect with level L0 or mix; msprobe compare takes it as it is":
    "请以 level L0 或 mix 采集；msprobe compare 可直接比对",
  "collect again": "请重新采集",
  "there is no such node": "没有这个节点",
  "no node has this name": "没有这个名称的节点",
  "the node is no longer in the file": "节点已不在文件中",
  "out of memory": "内存不足",
  "close other files, or use a larger machine": "请关闭其他文件，或使用内存更大的机器",
  "use fewer threads (-j 1) or fewer ranks": "请减少线程（-j 1）或 rank",
  "the file is still being loaded": "文件仍在加载",
  "other matches are still being compared": "其他匹配仍在比较",
  "try again in a moment": "请稍后再试",
  "ask 'open' until it is ready": "请稍候再试",
  cancelled: "已取消",
  "one of the nodes has a partner already": "其中一个节点已有匹配",
  "pick two nodes without partners": "请选择两个未匹配的节点",
  "there is no match by hand to undo": "没有可撤销的手动匹配",
  "this pair was not made by hand": "这一对不是手动匹配的",
  "the request's body names no match": "请求体未指明匹配",
  "send {}, {t, g} or {last: {t, g, count}}": "请发送 {}、{t, g} 或 {last: {t, g, count}}",
  "this pair is not the last match any more": "这一对已不是最后一次匹配",
  "look at the matches as they are now": "请查看现在的匹配",
  "nodes of this file cannot be matched by hand": "该文件的节点不能手动匹配",
  "match in a comparison, with a viewer that may save":
    "请在比对图中、以允许保存的方式启动查看后匹配",
  "the saved matches cannot be read: {}": "无法读取已保存的手动匹配：{}",
  "{} of {} saved matches do not apply here, as their nodes are missing or have partners already; they stay saved":
    "{} 个已保存的匹配（共 {} 个）在此不适用：节点不存在或已有匹配；它们仍被保存",
  "{}, line {}, column {}": "{}，第 {} 行第 {} 列",
  "broken JSON": "JSON 有误",
  "correct {}": "请修正{}",
  "the file": "该文件",
  "the request's body": "请求体",
  "it must be JSON, # and // begin comments": "应为 JSON，# 与 // 之后为注释",
  "only the first {} of {} steps and ranks are in this report":
    "报告中只有前 {} 个 step 与 rank（共 {} 个）",
  "{} of {} steps and ranks have this node; the others are not in this report":
    "{} 个 step 与 rank（共 {} 个）有该节点；其余不在报告中",
  "only {} and what is in it is in this report": "报告中只有 {} 及其内部节点",
  "the values of {} nodes are not in this report, to keep it small":
    "为控制大小，报告中没有 {} 个节点的数据",
  "{} of {} steps and ranks cannot be read: {}": "{} 个 step 与 rank（共 {} 个）无法读取：{}",
  "dump.json is cut off, records at its end are lost: {}": "dump.json 不完整，末尾的记录已丢失：{}",
  "no pair of modules was made by hand, and a layer mapping names modules only":
    "没有手动匹配的模块，而 layer mapping 只能写模块",
  "calls of functions pair by name and order inside paired modules":
    "函数调用在已匹配的模块内按名称和顺序匹配",
  "the search has too many stars": "搜索中的星号过多",
  "at most {} parts with stars between them are looked for": "最多搜索以星号分隔的 {} 个部分",
  "the request's query is too long": "请求过长",
  "the parameter '{}' must be a number from {} to {}": "参数“{}”应为 {} 到 {} 之间的数",
  "please report this as a bug of msprobe": "请作为 msprobe 的缺陷反馈",
  "the request comes from another site": "请求来自其他网站",
  "there is no such unit in this report": "报告中没有这个 step 与 rank",
  "the values of this node are not in the report": "报告中没有该节点的数据",
  "a report cannot be changed": "报告不能修改",
  "open the file with 'msprobe view' to match nodes by hand":
    "请用 msprobe view 打开文件后手动匹配节点",
  "the server answered with status {}": "服务器返回状态 {}",
  "{} is a link that leads nowhere: left out": "{} 是无效链接：已忽略",
  "{} does not belong into a dump: left out": "{} 不属于 dump：已忽略",
};

const PATTERNS = Object.entries(SENTENCES)
  .filter(([english]) => english.includes("{}"))
  .map(([english, chinese]) => {
    const literals = english.split("{}").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    return [new RegExp(`^${literals.join("(.*)")}$`, "s"), chinese] as const;
  });

function sentence(english: string): string | undefined {
  const whole = SENTENCES[english];
  if (whole !== undefined) return whole;
  for (const [pattern, chinese] of PATTERNS) {
    const values = pattern.exec(english)?.slice(1);
    if (values !== undefined)
      return chinese.replace(/\{\}/g, () => chineseError(values.shift() ?? ""));
  }
  // What the system says stands behind the fact.
  const [, fact, system] = /^(.*) (\([^()]*\))$/s.exec(english) ?? [];
  const known = fact === undefined ? undefined : SENTENCES[fact];
  return known === undefined ? undefined : `${known} ${system}`;
}

/** An error in Chinese, also one in a line `fact; advice: path`; what is not known stays as it is. */
export function chineseError(said: string): string {
  // The parts first: what fills a place at the end of a fact would take advice and path for its own.
  const [, line = said, path = ""] = /^(.*?)(: [^:;]*\/[^:;]*)?$/s.exec(said) ?? [];
  const translated = line.split("; ").map(sentence);
  if (translated.every((text) => text !== undefined)) {
    return translated.join("；") + path.replace(": ", "：");
  }
  return sentence(said) ?? said;
}

/** The sentences that must stand in the sources, without what fills them. */
export const KNOWN_ERRORS: readonly string[][] = Object.keys(SENTENCES).map((english) =>
  english.split("{}").filter((literal) => literal.trim() !== ""),
);
