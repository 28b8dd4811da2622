/** What the comparison says of a node, in Chinese. The sentences stand in files, in English. */

const SENTENCES: Record<string, string> = {
  "its inputs agree, its outputs do not": "输入一致，输出不一致",
  "its inputs differ already": "输入已经不一致",
  "its forward or its gradients differ already": "其前向或梯度已经不一致",
  "its outputs differ, but not all of its inputs could be compared":
    "输出不一致，但并非所有输入都能比对",
  "its outputs differ though it takes no tensors: random numbers or other constants":
    "没有张量输入而输出不一致：随机数或常量不同",
  "its inputs agree on this rank; what comes from the other ranks may not":
    "本 rank 的输入一致；来自其他 rank 的数据可能不一致",
  "its inputs differ, and no recorded node made them: other data or other weights?":
    "输入不一致，且没有采集到产生它们的节点：数据或权重是否不同？",
  "its inputs carry an error within the tolerance": "输入带有容差之内的误差",
  "what its forward took carries an error within the tolerance": "其前向的输入带有容差之内的误差",
  "within what a rule of the tolerances allows": "在容差规则允许的范围之内",
  "its output is memory that nobody has written yet": "输出是尚未写入的内存",
  "it reads memory that nobody has written yet": "读取了尚未写入的内存",
  "what differs in it is memory that nobody has written yet": "不同之处是尚未写入的内存",
  "no recorded node made what differs in it, and nothing that was computed differs by it":
    "不同之处并非由已采集的节点产生，且由此计算的结果均一致",
  "it takes NaN, of which the statistics say nothing": "输入为 NaN，统计值无法说明其差异",
  "it has no partner, and what it took cannot be traced": "没有匹配节点，且其输入无法追溯",
  "the error starts inside it": "误差始于其内部",
  "the error grew little by little: inputs just within the tolerance, outputs not":
    "误差逐渐累积：输入刚好在容差之内，输出超出容差",
  "the forward and the gradients agree, the gradients of parameters do not":
    "前向与梯度一致，参数梯度不一致",
  "the norm of the inputs agrees, that of the outputs does not": "输入的范数一致，输出的不一致",
  "the norm error of the outputs is more than 10 times that of the inputs":
    "输出的范数误差超过输入的 10 倍",
  "most elements of the inputs agree, most of the outputs do not":
    "输入的多数元素一致，输出的多数元素不一致",
  "the cosine of the outputs is far below that of the inputs": "输出的余弦相似度远低于输入",
  "a norm differs by more than half": "某个范数相差一半以上",
  "a norm differs": "某个范数不同",
  "many elements of a tensor differ": "某个张量有许多元素不同",
  "the cosine of a tensor is low": "某个张量的余弦相似度很低",
  "the checksum differs": "校验值不同",
  "the dtype differs": "dtype 不同",
  "the shape differs": "shape 不同",
  "requires_grad differs": "requires_grad 不同",
  "the scalar argument differs": "标量参数不同",
  "the dtype argument differs": "dtype 参数不同",
  "the kind of the value differs": "值的类别不同",
  "NaN or infinity on one side only": "仅一侧出现 NaN 或无穷大",
  "NaN on both sides": "两侧均为 NaN",
  "golden has no such parameter": "标杆侧没有此参数",
  "golden has parameters that target does not have": "标杆侧的部分参数在待调试侧不存在",
  "not compared: target recorded no statistics": "未比对：待调试侧没有统计量",
  "not compared: golden recorded no statistics": "未比对：标杆侧没有统计量",
  "not compared: no statistics on either side": "未比对：两侧均没有统计量",
  "not compared: the shape differs": "未比对：shape 不同",
  "not compared: no checksum on either side": "未比对：两侧均没有校验值",
  "not compared: no checksum of the same kind on both sides": "未比对：两侧没有同类校验值",
  "no such name": "另一侧没有同名节点",
  "no such name: the other side's dump.json is cut off":
    "另一侧没有同名节点：其 dump.json 不完整（末尾缺失）",
  "its record is lost: dump.json is cut off": "本侧记录已丢失：dump.json 不完整（末尾缺失）",
  "the other side's record is lost: dump.json is cut off":
    "另一侧的记录已丢失：dump.json 不完整（末尾缺失）",
  "other parent": "父节点不同",
  "parent unmatched": "父节点未匹配",
  "other number of inputs or outputs": "输入或输出的个数不同",
  "other type": "类型不同",
  "other shape": "shape 不同",
  "other dtype": "dtype 不同",
  "paired by hand, not compared": "手动匹配，未比对",
  "the file does not say where its tensors are": "文件没有记录张量数据的位置",
  "the tensors are no longer where they were collected": "张量数据已不在采集时的位置",
  "the tensors lie where the viewer may not read: start it with --data DIR":
    "张量数据所在的目录未开放读取：请用 --data DIR 启动",
};

const PARTS: [RegExp, string][] = [
  [
    /^only statistics are compared: no tensor file on either side$/,
    "仅比对统计量：两侧均没有张量文件",
  ],
  [
    /^only statistics are compared: target has no tensor file$/,
    "仅比对统计量：待调试侧没有张量文件",
  ],
  [/^only statistics are compared: golden has no tensor file$/, "仅比对统计量：标杆侧没有张量文件"],
  [/^not compared: no tensor file on either side$/, "未比对：两侧均没有张量文件"],
  [/^not compared: target has no tensor file$/, "未比对：待调试侧没有张量文件"],
  [/^not compared: golden has no tensor file$/, "未比对：标杆侧没有张量文件"],
  [/^compared only in part: target recorded no ([^;]*)$/, "仅部分比对：待调试侧没有 $1"],
  [/^compared only in part: golden recorded no ([^;]*)$/, "仅部分比对：标杆侧没有 $1"],
  [/^golden has no such node$/, "标杆侧没有此节点"],
  [
    /^golden's node of this name is not its partner \(other parent\)$/,
    "标杆侧的同名节点父节点不同，未与其匹配",
  ],
  [/^golden's node of this name is not its partner(.*)$/, "标杆侧的同名节点未与其匹配$1"],
  [/^golden's node of this name goes with (.*)$/, "标杆侧的同名节点与 $1 匹配"],
  [
    /^and what it made differs(, little at first,)? from what golden used in its place$/,
    "且其输出与标杆侧使用的数据不一致",
  ],
  [/^-fm pairs calls whatever their numbers$/, "-fm 可忽略调用次数进行匹配"],
  [/^argument `(.*)` is (.*), golden's is (.*)$/, "参数 `$1` 为 $2，标杆侧为 $3"],
  [/^golden calls it with other arguments$/, "标杆侧以其他参数调用"],
  [/^golden calls it with other arguments, or gets another shape$/, "标杆侧的参数或 shape 不同"],
  [/^its `(.*)` has the shape (.*), golden's (.*)$/, "其 `$1` 的 shape 为 $2，标杆侧为 $3"],
  [/^its outputs are equal as far as they are recorded$/, "已采集的输出一致"],
  [/^its outputs differ, little at first$/, "输出起初只有微小差异"],
  [/^parameters differ: (.*)$/, "参数不一致：$1"],
  [/^and it makes the error more than 10 times larger$/, "且将误差放大 10 倍以上"],
  [/^(\d+) nodes inside have no partner$/, "其内部有 $1 个节点未匹配"],
];

function part(english: string): string {
  const whole = SENTENCES[english];
  if (whole !== undefined) return whole;
  for (const [pattern, chinese] of PARTS) {
    if (pattern.test(english)) return english.replace(pattern, chinese);
  }
  return english;
}

/** A reason in Chinese; what is not known stays as it is. */
export function chineseReason(reason: string): string {
  const [, said = reason, place = ""] = /^(.*?)( \([^()]*\))?$/s.exec(reason) ?? [];
  const whole = part(said);
  if (whole !== said) return whole + place;
  const parts = said.split(/; |, (?=and )/);
  const translated = parts.map(part);
  return translated.some((text, i) => text !== parts[i]) ? translated.join("；") + place : reason;
}

/** The sentences that must stand in the sources of the comparison. */
export const KNOWN_REASONS: readonly string[] = Object.keys(SENTENCES);
